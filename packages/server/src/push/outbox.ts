import type { Clock } from '../base/clock.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import { pushLimits } from './limits.ts';
import type { PushPosted } from './post-message.ts';
import { type Changes, type PushRecords, type StoredDevice, withDevice } from './push-records.ts';
import { isQuiet } from './quiet-hours.ts';

/** The dependencies of the outbox. */
export interface OutboxOptions {
  readonly records: PushRecords;
  /** Sends the pending changes of a device; undefined if none of them applies any more. */
  readonly send: (workspaceId: string, device: StoredDevice, signal: AbortSignal) => Promise<PushPosted | undefined>;
  /** Whether the key that the device was added with is still valid. */
  readonly hasKey: (workspaceId: string, keyId: string) => Promise<boolean>;
  /** Identifies this process where several share the store. */
  readonly holder: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Sends the pending messages of devices, each device by one node at a time. Pending changes are in the store, so a crash loses no
 * message, and an unreachable push service costs no memory.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiting = new Map<string, readonly [workspaceId: string, deviceId: string]>();
  readonly #sending = new Map<string, { readonly workspaceId: string; readonly done: Promise<void> }>();
  readonly #retries = new Set<Cancel>();
  /** Workspaces whose last delivery failed. */
  readonly #failing = new Set<string>();
  readonly #closing = new AbortController();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Sends the pending changes of a device, unless it has quiet hours, waits for a retry, or is claimed. */
  notice(workspaceId: string, deviceId: string): void {
    this.#waiting.set(`${workspaceId} ${deviceId}`, [workspaceId, deviceId]);
    this.#sendWaiting();
  }

  /** Aborts requests in progress; their messages are sent after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const cancel of this.#retries) cancel();
    await Promise.all([...this.#sending.values()].map(({ done }) => done));
  }

  #sendWaiting(): void {
    for (const [key, [workspaceId, deviceId]] of this.#waiting) {
      if (this.#closing.signal.aborted || this.#sending.size >= pushLimits.pushAtOnceMax) return;
      if (this.#sending.has(key) || !this.#hasTurn(workspaceId)) continue;
      this.#waiting.delete(key);
      const done = this.#send(workspaceId, deviceId)
        .catch(this.#options.onProblem)
        .finally(() => {
          this.#sending.delete(key);
          this.#sendWaiting();
        });
      this.#sending.set(key, { workspaceId, done });
    }
  }

  /** Whether the workspace may send another message now. Workspaces whose deliveries fail share a part of the slots. */
  #hasTurn(workspaceId: string): boolean {
    const sending = [...this.#sending.values()];
    const own = sending.filter((each) => each.workspaceId === workspaceId);
    if (own.length >= pushLimits.pushAtOncePerWorkspaceMax) return false;
    if (!this.#failing.has(workspaceId)) return true;
    const failing = sending.filter((each) => this.#failing.has(each.workspaceId));
    return failing.length < pushLimits.pushFailingAtOnceMax;
  }

  async #send(workspaceId: string, deviceId: string): Promise<void> {
    const { records, send, hasKey } = this.#options;
    const device = await this.#claim(workspaceId, deviceId);
    if (device === undefined) return;
    if (!(await hasKey(workspaceId, device.keyId))) {
      await records.update(workspaceId, (state) => withDevice(state, deviceId, () => undefined));
      return;
    }
    const posted = await send(workspaceId, device, this.#closing.signal).catch(
      (error: unknown): PushPosted => ({ type: 'failed', reason: String(error), retryAfterMs: 0 }),
    );
    if (posted?.type === 'failed') this.#failing.add(workspaceId);
    else if (posted !== undefined) this.#failing.delete(workspaceId);
    await this.#settle(workspaceId, device, posted);
  }

  async #claim(workspaceId: string, deviceId: string): Promise<StoredDevice | undefined> {
    const { records, holder, clock } = this.#options;
    let claimed: StoredDevice | undefined;
    await records.update(workspaceId, (state) => {
      const now = clock.now();
      const device = state.devices.find(({ id }) => id === deviceId);
      claimed = device !== undefined && isDue(device, now) ? device : undefined;
      const claim = { holder, until: now + pushLimits.pushClaimMs };
      return claimed && withDevice(state, deviceId, (known) => ({ ...known, claim }));
    });
    return claimed;
  }

  async #settle(workspaceId: string, sent: StoredDevice, posted: PushPosted | undefined): Promise<void> {
    const now = this.#options.clock.now();
    const isStopping = this.#closing.signal.aborted;
    const { devices } = await this.#options.records.update(workspaceId, (state) =>
      withDevice(state, sent.id, (device) =>
        isStopping && posted?.type === 'failed'
          ? { ...device, claim: null }
          : toSettled({ ...device, claim: null }, sent.pending, posted, now),
      ),
    );
    const device = devices.find(({ id }) => id === sent.id);
    if (device === undefined || isStopping || Object.keys(device.pending).length === 0) return;
    this.#noticeLater(workspaceId, device.id, Math.max(0, device.notBefore - now));
  }

  #noticeLater(workspaceId: string, deviceId: string, delayMs: number): void {
    const cancel = this.#options.schedule(() => {
      this.#retries.delete(cancel);
      this.notice(workspaceId, deviceId);
    }, delayMs);
    this.#retries.add(cancel);
  }
}

function isDue({ pending, notBefore, quietHours, claim }: StoredDevice, now: number): boolean {
  if (Object.keys(pending).length === 0 || notBefore > now) return false;
  if (quietHours !== null && isQuiet(quietHours, now)) return false;
  return claim === null || claim.until <= now;
}

function toSettled(
  device: StoredDevice,
  sent: Changes,
  posted: PushPosted | undefined,
  now: number,
): StoredDevice | undefined {
  if (posted?.type === 'gone') return undefined;
  const failures = device.failures + 1;
  if (posted?.type === 'failed' && failures < pushLimits.pushTriesMax) {
    const delay = Math.min(pushLimits.pushRetryMs * 2 ** device.failures, pushLimits.pushRetryMsMax);
    return { ...device, failures, notBefore: now + Math.max(delay, posted.retryAfterMs), problem: posted.reason };
  }
  // A session that has changed again in the meantime stays pending.
  const left = Object.entries(device.pending).filter(([sessionId, change]) => sent[sessionId] !== change);
  const settled = { ...device, pending: Object.fromEntries(left), failures: 0, notBefore: 0 };
  if (posted === undefined) return settled;
  if (posted.type === 'accepted') return { ...settled, lastSentAt: now, problem: null };
  return { ...settled, problem: posted.reason };
}
