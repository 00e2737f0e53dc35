import { limits } from '../base/limits.ts';
import { type Schedule, systemSchedule } from '../base/schedule.ts';
import type { SessionActor } from './actor.ts';
import type { ClientInput } from './client-event.ts';
import { type OpenedSession, openSession, type SessionParts } from './open-session.ts';
import { isStoreError } from '../store/store-errors.ts';
import { sessionError } from './session-errors.ts';

export interface HostOptions extends Omit<SessionParts, 'schedule'> {
  readonly schedule?: Schedule;
  /** Told of what nobody asked for: a session that was lost, a log that cannot be read. */
  readonly onProblem?: (sessionId: string, error: unknown) => void;
}

interface Hosted extends OpenedSession {
  usedAt: number;
}

/** The sessions that this process owns. It opens one when there is something to do for it, and lets it go when not. */
export class SessionHost {
  readonly #options: HostOptions & { readonly schedule: Schedule };
  readonly #hosted = new Map<string, Promise<Hosted | undefined>>();
  readonly #taking = new Map<string, Promise<void>>();
  /** Sessions that came to something that no log can take, until they are ended for it. */
  readonly #unwritable = new Map<string, string>();
  #unsubscribe: () => void = () => {};
  #cancelTick: () => void = () => {};
  #isClosed = false;

  constructor(options: HostOptions) {
    this.#options = { schedule: systemSchedule, ...options };
  }

  /** Picks up whatever others have left: what waits to be done, and what a crash has interrupted. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#options.store.subscribe((signals) => {
      for (const { type, sessionId } of signals) {
        if (type === 'inputs') this.wake(sessionId);
        else if (type === 'deleted') this.#forget(sessionId);
      }
    });
    await this.#adopt();
    this.#tick();
  }

  /** Something was submitted to the session. */
  wake(sessionId: string): void {
    this.#watch(sessionId, this.take(sessionId));
  }

  /** Takes up everything that was sent to the session, if nobody else owns it. Resolves when it is durable. */
  async take(sessionId: string): Promise<void> {
    if (this.#isClosed) return;
    const before = this.#taking.get(sessionId) ?? Promise.resolve();
    const taking = before.catch(() => {}).then(() => this.#takeAll(sessionId));
    this.#taking.set(sessionId, taking);
    try {
      await taking;
    } finally {
      if (this.#taking.get(sessionId) === taking) this.#taking.delete(sessionId);
    }
  }

  /** The session, owned by this process. Refused while another one owns it. */
  async own(sessionId: string): Promise<SessionActor> {
    const isNew = !this.#hosted.has(sessionId);
    const hosted = await this.#open(sessionId);
    if (hosted === undefined) throw sessionError('session_elsewhere', `${sessionId} is owned by another process`);
    // What was sent while nobody owned it still waits: it is no orphan any more, so nobody else would look for it.
    if (isNew) this.wake(sessionId);
    hosted.usedAt = this.#options.clock.steady();
    return hosted.actor;
  }

  /** Lets go of a session, e.g. after it was deleted. */
  async release(sessionId: string): Promise<void> {
    const hosted = await this.#hosted.get(sessionId);
    this.#hosted.delete(sessionId);
    if (hosted !== undefined) await this.#end(sessionId, hosted);
  }

  /** Stops all work where it is. Whoever starts next goes on with it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#cancelTick();
    await Promise.allSettled(this.#taking.values());
    await Promise.allSettled([...this.#hosted.keys()].map((sessionId) => this.release(sessionId)));
  }

  async #takeAll(sessionId: string): Promise<void> {
    const { store } = this.#options;
    const hosted = await this.#open(sessionId);
    if (hosted === undefined) return;
    while (!this.#isClosed) {
      const records = await store.inputs.peek(sessionId, limits.inputsTakenMax);
      if (records.length === 0) return;
      hosted.usedAt = this.#options.clock.steady();
      // Only `send` writes inputs, so their form is known.
      const inputs = records.map(({ id, data }) => ({ id, event: data['event'] }) as unknown as ClientInput);
      const consumed = { type: 'consume_inputs' as const, inputIds: inputs.map(({ id }) => id) };
      await hosted.actor.dispatch({ type: 'inputs', inputs }, [consumed]);
      if (hosted.actor.isLost) return;
    }
  }

  #open(sessionId: string): Promise<Hosted | undefined> {
    const known = this.#hosted.get(sessionId);
    if (known !== undefined) return known;
    const opening = this.#claim(sessionId);
    this.#hosted.set(sessionId, opening);
    const forgetFailed = () => {
      if (this.#hosted.get(sessionId) === opening) this.#hosted.delete(sessionId);
    };
    opening.then((hosted) => hosted ?? forgetFailed(), forgetFailed);
    return opening;
  }

  async #claim(sessionId: string): Promise<Hosted | undefined> {
    if (this.#isClosed) return undefined;
    const onProblem = (error: unknown) => this.#problem(sessionId, error);
    const onLost = (error: unknown) => {
      if (isStoreError(error, 'frame_too_large')) this.#unwritable.set(sessionId, error.message);
      this.#forget(sessionId);
      onProblem(error);
    };
    const unwritable = this.#unwritable.get(sessionId);
    const opened = await openSession(this.#options, sessionId, { onLost, onProblem, unwritable });
    if (opened === undefined) return undefined;
    this.#unwritable.delete(sessionId);
    return { ...opened, usedAt: this.#options.clock.steady() };
  }

  /** Now and then: leases are kept, sessions that rest are let go, and those that nobody owns are taken. */
  #tick(): void {
    this.#cancelTick = this.#options.schedule(() => {
      const work = [this.#renew(), this.#letGo().then(() => this.#poll()), this.#adopt()];
      void Promise.allSettled(work).then(() => this.#isClosed || this.#tick());
    }, limits.hostTickMs);
  }

  async #renew(): Promise<void> {
    const { store, owner } = this.#options;
    const hosted = await this.#all();
    const leases = hosted.map(([sessionId, { actor }]) => ({ sessionId, fence: actor.fence }));
    if (leases.length === 0) return;
    const lost = await store.leases.renew({ owner, ttlMs: limits.leaseMs, leases });
    for (const sessionId of lost) this.#forget(sessionId);
  }

  async #letGo(): Promise<void> {
    const latest = this.#options.clock.steady() - limits.hostIdleMs;
    const ending: Promise<void>[] = [];
    for (const [sessionId, hosted] of await this.#all()) {
      if (hosted.actor.isBusy) hosted.usedAt = this.#options.clock.steady();
      if (hosted.usedAt > latest || this.#taking.has(sessionId)) continue;
      // Nobody may find it in the meantime, so there is no await before it is gone.
      this.#hosted.delete(sessionId);
      // All at once: a program may take seconds to end, and meanwhile no lease is renewed.
      ending.push(this.#end(sessionId, hosted));
    }
    await Promise.all(ending);
  }

  /** Signals are hints: one that was lost must not leave input behind. */
  #poll(): void {
    for (const sessionId of this.#hosted.keys()) this.wake(sessionId);
  }

  async #adopt(): Promise<void> {
    const orphans = await this.#options.store.leases.findOrphans(limits.orphansTakenMax);
    for (const sessionId of orphans) this.#watch(sessionId, this.#adoptOne(sessionId));
  }

  async #adoptOne(sessionId: string): Promise<void> {
    await this.take(sessionId);
    const hosted = await this.#hosted.get(sessionId);
    // What is only told here belongs to who tells it. It was taken because nobody did any more, and is at rest now.
    if (hosted?.actor.state.created.is_read_only === true) await this.release(sessionId);
  }

  async #all(): Promise<[string, Hosted][]> {
    const all = [...this.#hosted].map(async ([sessionId, opening]) => {
      const hosted = await opening.catch(() => undefined);
      return hosted === undefined ? [] : [[sessionId, hosted] as [string, Hosted]];
    });
    return (await Promise.all(all)).flat();
  }

  /** It belongs to somebody else now, or is gone: nothing may be written to it. */
  #forget(sessionId: string): void {
    if (this.#hosted.has(sessionId)) this.#watch(sessionId, this.release(sessionId));
  }

  async #end(sessionId: string, { actor, toolbox }: Hosted): Promise<void> {
    actor.drop();
    try {
      await actor.ended();
      await toolbox.close();
    } finally {
      await this.#options.store.leases.release({ sessionId, fence: actor.fence });
    }
  }

  /** What nobody waits for can fail all the same. */
  #watch(sessionId: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#problem(sessionId, error));
  }

  #problem(sessionId: string, error: unknown): void {
    if (!this.#isClosed) this.#options.onProblem?.(sessionId, error);
  }
}
