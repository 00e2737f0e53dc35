/** `GET /v1/fleet/push`: the key that browsers subscribe with, `applicationServerKey` in base64url. */
export interface PushKey {
  readonly type: 'push_key';
  readonly public_key: string;
}

/** The notifications of a device: sessions that need a person, and sessions that fail. */
export type PushKind = 'approvals' | 'failures';

/** Hours of each day without messages to a device; they may span midnight. Messages that are still relevant are sent afterwards. */
export interface PushQuietHours {
  /** The beginning, such as `22:30`, in the time zone. */
  readonly from: string;
  readonly to: string;
  /** The time zone, a name of the IANA database such as `Europe/Vienna`. */
  readonly time_zone: string;
}

/** `POST /v1/fleet/push_subscriptions`. A second request with the same endpoint replaces the settings of the device. */
export interface PushDeviceParams {
  /** The name of the device, for people. */
  readonly label: string;
  /** The endpoint of the browser's `PushSubscription`. */
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  /** The kinds of messages; by default both. */
  readonly notify?: readonly PushKind[];
  readonly quiet_hours?: PushQuietHours | null;
  /** Whether messages contain the names of sessions and the calls that they wait for. By default only counts. */
  readonly include_content?: boolean;
}

/** A device that receives push messages. Its address and keys are not in responses. */
export interface PushDevice {
  readonly type: 'push_subscription';
  readonly id: string;
  readonly label: string;
  /** The host of the push service. */
  readonly service: string;
  readonly notify: readonly PushKind[];
  readonly quiet_hours: PushQuietHours | null;
  readonly include_content: boolean;
  /** The name of the key that added the device. */
  readonly created_by: string;
  readonly created_at: string;
  /** When the push service accepted the last message; null if it never did. */
  readonly last_sent_at: string | null;
  /** Why the last message was not sent; null if it was. */
  readonly problem: string | null;
}

/** `GET /v1/fleet/push_subscriptions`. */
export interface PushDeviceList {
  readonly type: 'push_subscriptions';
  readonly data: readonly PushDevice[];
}

/** The decrypted content of a push message, as a service worker receives it. */
export interface PushMessage {
  readonly title: string;
  readonly body: string;
  /** The page of the dashboard that the message opens: `#/inbox`. */
  readonly url: string;
  /** A newer message with the same tag replaces an older one on the device. */
  readonly tag: string;
  readonly needs_you: number;
  readonly failed: number;
}
