import type { PushDevice, PushDeviceList, PushDeviceParams, PushKey } from '@fleetloom/protocol/fleet';
import { ApiError, api } from '../connection/api.ts';
import { trustScript } from '../connection/trust-script.ts';
import { Signal } from '../signal.ts';

/**
 * Whether this browser can receive push messages. `insecure` if the page was not loaded with https or from this machine; `blocked` if the
 * user has denied notifications.
 */
export type PushSupport = 'unsupported' | 'insecure' | 'blocked' | 'ready';

/** The push settings of this device that a user can change. */
export type PushSettingsChange = Pick<PushDeviceParams, 'notify' | 'quiet_hours' | 'include_content'>;

/** The push messages of this browser, and the devices of the workspace that receive them. */
class PushStore {
  readonly changed = new Signal();
  /** The devices; undefined before the first response. */
  devices: readonly PushDevice[] | undefined;
  /** Why the last action failed; empty if it succeeded. */
  problem = '';
  isBusy = false;

  get support(): PushSupport {
    if (!globalThis.isSecureContext) return 'insecure';
    if (!('serviceWorker' in navigator) || !('PushManager' in globalThis)) return 'unsupported';
    return Notification.permission === 'denied' ? 'blocked' : 'ready';
  }

  /** The device record of this browser; undefined if it does not receive push messages. */
  get own(): PushDevice | undefined {
    const id = localStorage.getItem(KEY);
    return this.devices?.find((device) => device.id === id);
  }

  load(): Promise<void> {
    return this.#run(async () => {});
  }

  /** Asks for permission, subscribes this browser at its push service, and adds it on the server. */
  turnOn(): Promise<void> {
    return this.#run(async () => {
      if ((await Notification.requestPermission()) !== 'granted') return;
      await this.#save({});
    });
  }

  change(change: PushSettingsChange): Promise<void> {
    return this.#run(() => this.#save(change));
  }

  turnOff(): Promise<void> {
    return this.#run(async () => {
      const { own } = this;
      if (own !== undefined) await this.#asOwner(() => api.delete(`${PATH}/${own.id}`));
      localStorage.removeItem(KEY);
      const registration = await navigator.serviceWorker.getRegistration(WORKER_SCOPE);
      await (await registration?.pushManager.getSubscription())?.unsubscribe();
    });
  }

  remove(id: string): Promise<void> {
    return this.own?.id === id ? this.turnOff() : this.#run(() => api.delete(`${PATH}/${id}`));
  }

  /** Sends a test message to this device. */
  test(): Promise<void> {
    return this.#run(() => this.#asOwner(() => api.post(`${PATH}/${this.own!.id}/test`, {})));
  }

  /** Runs an action on the device of this browser. If another login added the device, it is added again, which assigns it to this login. */
  async #asOwner(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 403)) throw error;
      await this.#save({});
      await action();
    }
  }

  async #save(change: PushSettingsChange): Promise<void> {
    const { own } = this;
    const { endpoint, keys } = (await subscribe()).toJSON();
    const params = {
      label: own?.label ?? describeBrowser(navigator.userAgent),
      endpoint,
      keys: { p256dh: keys?.['p256dh'], auth: keys?.['auth'] },
      ...(own && { notify: own.notify, quiet_hours: own.quiet_hours, include_content: own.include_content }),
      ...change,
    };
    const { id } = await api.post<PushDevice>(PATH, params);
    localStorage.setItem(KEY, id);
  }

  /** Runs an action and reads the devices again. */
  async #run(action: () => Promise<unknown>): Promise<void> {
    this.isBusy = true;
    this.problem = '';
    this.changed.emit();
    try {
      await action();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    try {
      this.devices = (await api.get<PushDeviceList>(PATH)).data;
    } catch (error) {
      this.problem ||= `The devices could not be loaded: ${String(error)}`;
    }
    this.isBusy = false;
    this.changed.emit();
  }
}

const PATH = 'v1/fleet/push_subscriptions';
const KEY = 'fleetloom.push';
const WORKER_SCOPE = './';

/** The subscription of this browser, with the current key of the server. */
async function subscribe(): Promise<PushSubscription> {
  const worker = trustScript(new URL('./push-worker.js', location.href).href);
  await navigator.serviceWorker.register(worker, { scope: WORKER_SCOPE });
  const { pushManager } = await navigator.serviceWorker.ready;
  const { public_key: key } = await api.get<PushKey>('v1/fleet/push');
  const known = await pushManager.getSubscription();
  if (known !== null && keyOf(known) === key) return known;
  // The server has a new key. A browser can have only one subscription, for one key.
  await known?.unsubscribe();
  return await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

function keyOf({ options }: PushSubscription): string {
  const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** The state of push messages on this device, and what to do about it. */
export function explainPush(support: PushSupport, own: PushDevice | undefined): string {
  if (support === 'insecure') return 'Push messages need a page that was loaded with https, or from this machine.';
  if (support === 'unsupported')
    return 'This browser does not support push messages. On an iPhone or iPad, add this page to the Home Screen and open it from there.';
  if (support === 'blocked')
    return 'The browser blocks notifications of this page. Allow them in the site settings, next to the address, and reload the page.';
  if (own === undefined) return 'The browser asks for your permission.';
  return own.problem === null
    ? `Messages are encrypted for this device. They show how many sessions need you${own.include_content ? ', and their names' : ''}.`
    : `The last message was not delivered: ${own.problem}.`;
}

/** A name for this device in the list: `Chrome on Android`. */
export function describeBrowser(userAgent: string): string {
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? 'Browser';
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0];
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Browser names with their patterns. The order matters, because most user agents contain the names of other browsers too. */
const BROWSERS: readonly [string, RegExp][] = [
  ['Edge', /Edg/],
  ['Firefox', /Firefox|FxiOS/],
  ['Chrome', /Chrom|CriOS/],
  ['Safari', /Safari/],
];
const SYSTEMS: readonly [string, RegExp][] = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
];

/** The push messages of this browser. */
export const push = new PushStore();
