import type { PushDevice, PushDeviceParams, PushMessage } from '@fleetloom/protocol/fleet';
import type { Clock } from '../base/clock.ts';
import { openConnections } from '../base/outgoing-http.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import type { SessionLog } from '../log/log.ts';
import type { Store } from '../store/store.ts';
import type { AddressRules } from '../tools/network/find-addresses.ts';
import { assignChanges, assignMissed } from './assign-changes.ts';
import { addDevice, checkEndpoint, type DeviceOwner, toPushDevice } from './devices.ts';
import { encryptMessage } from './encrypt-message.ts';
import { type SessionChange, watchChanges } from './find-changes.ts';
import { pushLimits } from './limits.ts';
import { Outbox } from './outbox.ts';
import { postMessage, type PushPosted } from './post-message.ts';
import { createPushRecords, type PushState, type StoredDevice, withDevice } from './push-records.ts';
import { toMessage } from './to-message.ts';
import type { Vapid } from './vapid.ts';

/** Sends Web Push messages to the devices of each workspace when its sessions need a person or fail. */
export interface Push {
  /** Wraps a log: devices are notified of changes that it commits. */
  watch(log: SessionLog): SessionLog;
  publicKey(): Promise<string>;
  /** Adds a device, or replaces the settings of the device with the same endpoint. */
  add(owner: DeviceOwner, params: PushDeviceParams): Promise<PushDevice>;
  list(workspaceId: string): Promise<readonly PushDevice[]>;
  /** The person, login or key that added a device; undefined if the device does not exist. */
  ownerOf(workspaceId: string, id: string): Promise<string | undefined>;
  /** Removes a device. False if it does not exist. */
  remove(workspaceId: string, id: string): Promise<boolean>;
  /** Sends a test message at once, even in quiet hours. Undefined if the device does not exist, or has been removed in the meantime. */
  test(workspaceId: string, id: string): Promise<PushDevice | undefined>;
  /** Sends messages that the last process left unsent, and repeats the search periodically. */
  start(): void;
  /** Stops sending. Does not close the store. */
  close(): Promise<void>;
}

/** The parts that push messages need. */
export interface PushOptions {
  readonly store: Store;
  /** Called on first use. */
  readonly openVapid: () => Promise<Vapid>;
  /** The operator of this server, for push services: a `mailto:` or `https:` URL. */
  readonly contact: string;
  readonly rules: AddressRules;
  /** Whether the key that a device was added with is still valid. */
  readonly hasKey: (workspaceId: string, keyId: string) => Promise<boolean>;
  /** Identifies this process where several share the store. */
  readonly holder: string;
  /** Whether this process searches for changes and messages that other processes have not sent. */
  readonly isMine: () => boolean;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens Web Push. Close it to stop sending. */
export function createPush(options: PushOptions): Push {
  const { store, rules, contact, holder, isMine, clock, schedule, onProblem } = options;
  const records = createPushRecords(store);
  const connections = openConnections();
  const closing = new AbortController();
  const outbox = new Outbox({ records, send, hasKey: options.hasKey, holder, clock, schedule, onProblem });
  /** Committed changes that are not assigned to devices yet: the newest change of each session. */
  const changed = new Map<string, SessionChange>();
  let vapid: Promise<Vapid> | undefined;
  let cancelAssigning: Cancel | undefined;
  let cancelLook: Cancel = () => {};
  const running = new Set<Promise<void>>();

  return {
    watch: (log) => watchChanges(log, onChange),
    publicKey: async () => (await openVapid()).publicKey,
    add: async (owner, params) => {
      await checkEndpoint(params.endpoint, rules);
      const { device, change } = addDevice(owner, params, clock.now());
      const { devices } = await records.update(owner.workspaceId, change);
      return toPushDevice(devices.find(({ id }) => id === device.id)!);
    },
    list: async (workspaceId) => (await records.read(workspaceId)).devices.map(toPushDevice),
    ownerOf: async (workspaceId, id) => {
      const device = await find(workspaceId, id);
      return device && (device.ownerId ?? device.keyId);
    },
    remove: async (workspaceId, id) => {
      const isKnown = (state: PushState) => state.devices.some((device) => device.id === id);
      let wasKnown = false;
      await records.update(workspaceId, (state) => {
        wasKnown = isKnown(state);
        return wasKnown ? withDevice(state, id, () => undefined) : undefined;
      });
      return wasKnown;
    },
    test: async (workspaceId, id) => {
      const device = await find(workspaceId, id);
      if (device === undefined) return undefined;
      const posted = await post(device, TEST_MESSAGE, 'high', closing.signal);
      const { devices } = await records.update(workspaceId, (state) =>
        withDevice(state, id, (known) => toTested(known, posted)),
      );
      const left = devices.find((each) => each.id === id);
      return left && toPushDevice(left);
    },
    start: look,
    close: async () => {
      closing.abort();
      cancelLook();
      cancelAssigning?.();
      await Promise.all([...running, outbox.close()]);
      connections.close();
    },
  };

  async function find(workspaceId: string, id: string): Promise<StoredDevice | undefined> {
    return (await records.read(workspaceId)).devices.find((each) => each.id === id);
  }

  /** Opens the key pair once. A failure is not cached, so that the next call tries again. */
  async function openVapid(): Promise<Vapid> {
    vapid ??= options.openVapid();
    return await vapid.catch((error: unknown) => {
      vapid = undefined;
      throw error;
    });
  }

  /** Called after each commit. Only queues the change, so that sessions do not wait. */
  function onChange(change: SessionChange): void {
    if (closing.signal.aborted || changed.size >= pushLimits.pushQueuedChangesMax) return;
    changed.set(change.sessionId, change);
    cancelAssigning ??= schedule(() => {
      cancelAssigning = undefined;
      run(assignChanged());
    }, pushLimits.pushGatherMs);
  }

  async function assignChanged(): Promise<void> {
    const changes = [...changed.values()];
    changed.clear();
    const byWorkspace = new Map<string, SessionChange[]>();
    for (const change of changes) {
      const workspaceId = await store.sessions.findWorkspace(change.sessionId);
      if (workspaceId === undefined) continue;
      byWorkspace.set(workspaceId, [...(byWorkspace.get(workspaceId) ?? []), change]);
    }
    for (const [workspaceId, found] of byWorkspace) {
      noticeAll(workspaceId, await records.update(workspaceId, (state) => assignChanges(state, found)));
    }
  }

  function look(): void {
    const looking = lookOnce().finally(() => {
      if (!closing.signal.aborted) cancelLook = schedule(look, pushLimits.pushLookMs);
    });
    run(looking);
  }

  async function lookOnce(): Promise<void> {
    for await (const { workspaceId, state } of records.list()) {
      if (!isMine()) continue;
      // Yields, because this loop lists the sessions of many workspaces.
      await yieldToEventLoop(0);
      const now = clock.now();
      const { items } = await store.summaries.list({
        workspaceId,
        now,
        states: ['needs_you', 'failed'],
        activeFrom: Math.min(...state.devices.map(({ createdAt }) => createdAt)),
        includesArchived: false,
        sort: 'activity',
        order: 'desc',
        limit: pushLimits.pushLookSessionsMax,
      });
      const assign = (known: PushState) => assignMissed(known, items, now - pushLimits.pushMarginMs);
      noticeAll(workspaceId, await records.update(workspaceId, assign));
    }
  }

  function noticeAll(workspaceId: string, { devices }: PushState): void {
    for (const { id, pending } of devices) if (Object.keys(pending).length > 0) outbox.notice(workspaceId, id);
  }

  async function send(workspaceId: string, device: StoredDevice, signal: AbortSignal): Promise<PushPosted | undefined> {
    const made = await toMessage(store, workspaceId, device, clock.now());
    return made && (await post(device, made.message, made.urgency, signal));
  }

  async function post(
    { endpoint, p256dh, auth }: StoredDevice,
    message: PushMessage,
    urgency: 'high' | 'normal',
    signal: AbortSignal,
  ): Promise<PushPosted> {
    const authorization = (await openVapid()).authorize({ url: new URL(endpoint), now: clock.now(), contact });
    const keys = { p256dh: Buffer.from(p256dh, 'base64url'), auth: Buffer.from(auth, 'base64url') };
    const body = encryptMessage(JSON.stringify(message), keys);
    const topic = message.tag;
    return await postMessage({ endpoint, authorization, body, urgency, topic, rules, connections, schedule, signal });
  }

  function run(work: Promise<void>): void {
    const settled = work.catch(onProblem).finally(() => running.delete(settled));
    running.add(settled);
  }

  function toTested(device: StoredDevice, posted: PushPosted): StoredDevice | undefined {
    if (posted.type === 'gone') return undefined;
    if (posted.type === 'accepted') return { ...device, lastSentAt: clock.now(), problem: null };
    return { ...device, problem: posted.reason };
  }
}

const TEST_MESSAGE: PushMessage = {
  title: 'Test message',
  body: 'This device receives messages of Fleetloom.',
  url: '#/inbox',
  tag: 'fleetloom-test',
  needs_you: 0,
  failed: 0,
};
