import { inBackground, reportAsWarning } from '../base/in-background.ts';
import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import { isHeapShort } from '../base/heap-room.ts';
import { limits } from '../base/limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { type Schedule, systemSchedule } from '../base/schedule.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { SessionActor } from './actor.ts';
import { leaseMsOf, type OpenedSession, openSession, type SessionParts } from './open-session.ts';
import { OpenPrograms } from './program/open-programs.ts';
import { isProgram } from './state.ts';
import { carryOut } from './owner/carry-out.ts';
import type { CommandOutcome } from './owner/command-outcome.ts';
import type { SessionCommand } from './owner/session-command.ts';
import { type Batch, toBatches } from './owner/to-batches.ts';
import { waitUntil } from './owner/wait-until.ts';

export interface HostOptions extends Omit<SessionParts, 'schedule'> {
  readonly schedule?: Schedule;
  /** Told of what nobody asked for: a session that was lost, a log that cannot be read. */
  readonly onProblem?: (sessionId: string, error: unknown) => void;
  /** Whether idle sessions are to be released at once. By default the heap of this process decides. */
  readonly isHeapShort?: (() => boolean) | undefined;
}

interface Hosted extends OpenedSession {
  usedAt: number;
}

const HAND_OVER_LOOK_MS = 20;

/** The sessions that this process owns. It opens one when there is something to do for it, and lets it go when not. */
export class SessionHost {
  readonly #options: HostOptions & { readonly schedule: Schedule };
  readonly #hosted = new Map<string, Promise<Hosted | undefined>>();
  /** Those of them that are open: who renews leases cannot wait until a log is read. */
  readonly #ready = new Map<string, Hosted>();
  /** Sessions whose workspace another node has, and until when that is believed; the oldest first. */
  readonly #elsewhere = new Map<string, number>();
  readonly #taking = new Map<string, Promise<boolean>>();
  /** Sessions that came to something that no log can take, until they are ended for it. */
  readonly #unwritable = new Map<string, string>();
  /** Why sessions were lost that this process owned, until it opens them again. */
  readonly #lostBecause = new Map<string, string>();
  readonly #openPrograms: OpenPrograms;
  /** Sessions whose program is being ended because too many are kept. */
  readonly #releasing = new Set<string>();
  #unsubscribe: () => void = () => {};
  #cancelTick: () => void = () => {};
  #cancelWatch: () => void = () => {};
  #cancelRenew: () => void = () => {};
  #ticks = 0;
  #isFailing = false;
  #isClosed = false;
  /** Closed, and nothing is left. */
  #isOver = false;

  constructor(options: HostOptions) {
    this.#options = { schedule: systemSchedule, ...options };
    this.#openPrograms = new OpenPrograms(options.store.documents);
  }

  /** Picks up whatever others have left: what waits to be done, and what a crash has interrupted. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#options.store.subscribe((signals) => {
      for (const { type, sessionId } of signals) {
        if (type === 'inputs') this.#hear(sessionId);
        else if (type === 'deleted') this.#forgetDeleted(sessionId);
      }
    });
    await this.#openPrograms.load();
    await this.#adopt();
    this.#renewLater();
    this.#tick();
    this.#watchLeases();
  }

  /** Something was submitted to the session. */
  wake(sessionId: string): void {
    this.#watch(sessionId, this.#take(sessionId));
  }

  /**
   * Everything that was sent to the session is taken up when this resolves, here or by the process that owns it; or that
   * one has not been heard of for a while.
   */
  async take(sessionId: string): Promise<void> {
    if ((await this.#take(sessionId)) || this.#isClosed) return;
    const { store } = this.#options;
    const sent = await store.inputs.peek(sessionId, limits.pendingInputsMax);
    const last = sent.at(-1)?.position;
    if (last === undefined) return;
    await waitUntil(this.#options, sessionId, limits.ownerWaitMs, async () => {
      const [first] = await store.inputs.peek(sessionId, 1);
      return first === undefined || first.position > last || this.#isClosed ? true : undefined;
    });
  }

  /** Does what was asked for, if this process owns the session or nobody does. Undefined: another one has to do it. */
  async command(
    sessionId: string,
    toCommand: (actor: SessionActor) => SessionCommand,
  ): Promise<CommandOutcome | undefined> {
    const isNew = !this.#hosted.has(sessionId);
    const hosted = await this.#open(sessionId);
    if (hosted === undefined) return undefined;
    // What was sent while nobody owned it still waits: it is no orphan any more, so nobody else would look for it.
    if (isNew) this.wake(sessionId);
    hosted.usedAt = this.#options.clock.steady();
    const { log } = this.#options;
    const outcome = await carryOut({ log, actor: hosted.actor }, toCommand(hosted.actor), () => []);
    if (outcome.isOver) await this.release(sessionId);
    return hosted.actor.isLost && !outcome.isOver ? undefined : outcome.told;
  }

  /** What the threads of a session do that this process owns. Undefined: it does not. */
  health(sessionId: string): readonly ThreadHealth[] | undefined {
    const hosted = this.#ready.get(sessionId);
    return hosted === undefined || hosted.actor.isLost || !hosted.lease.isHeld ? undefined : hosted.actor.health();
  }

  /** Sessions that are open here, being opened, or being given their inputs. */
  get openCount(): number {
    return new Set([...this.#hosted.keys(), ...this.#ready.keys(), ...this.#taking.keys()]).size;
  }

  /** Lets go of a session, e.g. after it was deleted. */
  async release(sessionId: string): Promise<void> {
    const hosted = await this.#hosted.get(sessionId);
    this.#hosted.delete(sessionId);
    this.#ready.delete(sessionId);
    if (hosted !== undefined) await this.#end(sessionId, hosted);
  }

  /** Stops all work where it is. Whoever starts next goes on with it. Tools that run may finish, for a while. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#cancelTick();
    await Promise.allSettled(this.#taking.values());
    await Promise.allSettled([...this.#hosted.keys()].map((sessionId) => this.#handOver(sessionId)));
    // Until then its leases are kept.
    this.#isOver = true;
    this.#cancelRenew();
    this.#cancelWatch();
  }

  /** A tool that is cut off cannot be repeated, so whoever goes on would have to tell its agent that it is lost. */
  async #handOver(sessionId: string): Promise<void> {
    const { shared, clock } = this.#options;
    const hosted = await this.#hosted.get(sessionId);
    const until = clock.steady() + (shared?.handOverToolsMs ?? limits.handOverToolsMs);
    const mayWait = () => shared !== undefined && hosted !== undefined && !hosted.actor.isLost;
    while (mayWait() && hosted!.actor.isRunningTools && hosted!.lease.isHeld && clock.steady() < until) {
      await new Promise<void>((resolve) => void this.#options.schedule(resolve, HAND_OVER_LOOK_MS));
    }
    await this.release(sessionId);
  }

  /** Whether everything was taken up; else another process has to. */
  async #take(sessionId: string): Promise<boolean> {
    if (this.#isClosed) return false;
    const before = this.#taking.get(sessionId) ?? Promise.resolve();
    const taking = before.then(
      () => this.#takeAll(sessionId),
      () => this.#takeAll(sessionId),
    );
    this.#taking.set(sessionId, taking);
    try {
      return await taking;
    } finally {
      if (this.#taking.get(sessionId) === taking) this.#taking.delete(sessionId);
    }
  }

  async #takeAll(sessionId: string): Promise<boolean> {
    const { store, clock } = this.#options;
    const hosted = await this.#open(sessionId);
    if (hosted === undefined) return false;
    const { actor } = hosted;
    while (!this.#isClosed) {
      const records = await store.inputs.peek(sessionId, limits.inputsTakenMax);
      if (records.length === 0) return true;
      hosted.usedAt = clock.steady();
      for (const batch of toBatches(records)) {
        if (batch.type === 'inputs') {
          const consumed = { type: 'consume_inputs' as const, inputIds: batch.inputs.map(({ id }) => id) };
          await actor.dispatch({ type: 'inputs', inputs: batch.inputs }, [consumed]);
        } else if (await this.#obey(actor, batch)) {
          await this.release(sessionId);
          return true;
        }
        if (actor.isLost) return false;
      }
    }
    return false;
  }

  /** Carries out what another process was asked for. Whether the session needs no owner any more. */
  async #obey(
    actor: SessionActor,
    { command, expiresAt, toChanges }: Extract<Batch, { type: 'command' }>,
  ): Promise<boolean> {
    const { store, clock, log } = this.#options;
    const asked = (await store.now()) < expiresAt ? command : { type: 'too_late' as const };
    const { isOver } = await carryOut({ log, actor }, asked, (told) => toChanges(told, clock.now()));
    return isOver;
  }

  /** A signal. Who owns the session takes it up; others leave it alone, unless the workspace of the session is here. */
  #hear(sessionId: string): void {
    const { shared } = this.#options;
    if (shared === undefined || this.#hosted.has(sessionId)) return this.wake(sessionId);
    const guess = shared.homes?.isHere(sessionId) ?? Promise.resolve(false);
    this.#watch(
      sessionId,
      guess.then((isHere) => isHere && this.#take(sessionId)),
    );
  }

  #open(sessionId: string): Promise<Hosted | undefined> {
    const known = this.#hosted.get(sessionId);
    if (known !== undefined) return known;
    const isFull = this.#options.shared !== undefined && this.#countRoom() <= 0;
    if (this.#isClosed || isFull) return Promise.resolve(undefined);
    const opening = this.#claim(sessionId);
    this.#hosted.set(sessionId, opening);
    const settle = (hosted?: Hosted) => {
      if (this.#hosted.get(sessionId) !== opening) return;
      if (hosted === undefined) this.#hosted.delete(sessionId);
      else this.#ready.set(sessionId, hosted);
    };
    opening.then(settle, () => settle());
    return opening;
  }

  async #claim(sessionId: string): Promise<Hosted | undefined> {
    const onProblem = (error: unknown) => this.#problem(sessionId, error);
    const onLost = (error: unknown) => {
      // A session that another process took is recovered there, and that process cannot know why.
      if (!isStoreError(error, 'stale_owner')) this.#lostBecause.set(sessionId, String(error));
      if (isStoreError(error, 'frame_too_large')) this.#unwritable.set(sessionId, error.message);
      this.#forget(sessionId);
      onProblem(error);
    };
    const unwritable = this.#unwritable.get(sessionId);
    const onElsewhere = () => {
      this.#elsewhere.delete(sessionId);
      this.#elsewhere.set(sessionId, this.#options.clock.steady() + limits.elsewhereMs);
    };
    const lostBecause = this.#lostBecause.get(sessionId);
    const events = { onLost, onProblem, onElsewhere, unwritable, lostBecause };
    const opened = await openSession(this.#options, sessionId, events);
    if (opened === undefined) return undefined;
    this.#unwritable.delete(sessionId);
    this.#lostBecause.delete(sessionId);
    const hosted = { ...opened, usedAt: this.#options.clock.steady() };
    if (isHeldByProgram(opened.actor)) await this.#mark(sessionId, hosted);
    return hosted;
  }

  /** Before its program starts: a program that the next process would not hear of must not run. */
  async #mark(sessionId: string, hosted: Hosted): Promise<void> {
    try {
      await this.#openPrograms.add(sessionId);
    } catch (error) {
      await this.#end(sessionId, hosted);
      throw error;
    }
  }

  /** Now and then: sessions that rest are let go, and those that nobody owns are taken. */
  #tick(): void {
    this.#cancelTick = this.#options.schedule(() => {
      this.#ticks += 1;
      this.#letGo();
      this.#watch('', this.#poll());
      this.#adopt()
        .then(
          () => (this.#isFailing = false),
          (error: unknown) => {
            // A store that is away is told once, and not with every tick.
            if (!this.#isFailing) this.#problem('', error);
            this.#isFailing = true;
          },
        )
        .finally(() => this.#isClosed || this.#tick());
    }, tickMsOf(this.#options));
  }

  /** Apart from the rest: what is let go may take longer to end, and a log longer to be read, than a lease lasts. */
  #renewLater(): void {
    this.#cancelRenew = this.#options.schedule(() => {
      // If the store is away the next tick says so; until the leases have run out there is time for another try.
      const renewed = this.#renew().catch(() => {});
      inBackground(
        renewed.then(() => this.#isOver || this.#renewLater()),
        reportAsWarning,
      );
    }, tickMsOf(this.#options));
  }

  /**
   * Whoever was frozen, or is cut off from the store, stops what it does. Apart from the ticks: they wait for a store that
   * may not answer.
   */
  #watchLeases(): void {
    if (this.#options.shared === undefined) return;
    this.#cancelWatch = this.#options.schedule(() => {
      for (const [sessionId, { lease }] of this.#ready) if (!lease.isHeld) this.#forget(sessionId);
      this.#watchLeases();
    }, tickMsOf(this.#options) / 2);
  }

  async #renew(): Promise<void> {
    const { store, owner, clock } = this.#options;
    const held = [...this.#ready].filter(([, { lease }]) => lease.isHeld);
    if (held.length === 0) return;
    const leases = held.map(([sessionId, { actor }]) => ({ sessionId, fence: actor.fence }));
    const ttlMs = leaseMsOf(this.#options);
    const until = clock.steady() + ttlMs;
    const lost = new Set(await store.leases.renew({ owner, ttlMs, leases }));
    for (const [sessionId, { lease }] of held) {
      if (lost.has(sessionId)) this.#forget(sessionId);
      else lease.renewed(until);
    }
  }

  /** Nobody waits for their ends: a program may take seconds, a tool may hang, and others have to be looked after. */
  #letGo(): void {
    const { clock, isHeapShort: isShort = isHeapShort } = this.#options;
    const now = clock.steady();
    const latest = now - (isShort() ? 0 : limits.hostIdleMs);
    const kept: [string, Hosted][] = [];
    for (const [sessionId, hosted] of this.#ready) {
      if (hosted.actor.isBusy) hosted.usedAt = now;
      if (hosted.usedAt > latest || this.#taking.has(sessionId) || this.#releasing.has(sessionId)) continue;
      if (hosted.actor.hasOpenProgram) {
        if (hosted.usedAt <= now - limits.hostIdleMs) kept.push([sessionId, hosted]);
        continue;
      }
      this.#hosted.delete(sessionId);
      this.#ready.delete(sessionId);
      this.#watch(sessionId, this.#end(sessionId, hosted));
    }
    this.#boundPrograms(kept);
  }

  /** Too many programs are kept idle: those that were idle longest are ended, and their logs say why. */
  #boundPrograms(kept: readonly [string, Hosted][]): void {
    const tooMany = kept.length - limits.idleProgramsMax;
    if (tooMany <= 0) return;
    const oldest = kept.toSorted(([, a], [, b]) => a.usedAt - b.usedAt).slice(0, tooMany);
    for (const [sessionId, { actor }] of oldest) {
      this.#releasing.add(sessionId);
      const released = actor.releaseProgram(RELEASED).finally(() => this.#releasing.delete(sessionId));
      this.#watch(sessionId, released);
    }
  }

  /** Signals are hints: one that was lost must not leave input behind. Looks in slices, as there may be thousands of sessions. */
  async #poll(): Promise<void> {
    const turns = this.#options.shared === undefined ? 1 : limits.sharedPollTicks;
    const ticks = this.#ticks;
    for (const [index, sessionId] of [...this.#hosted.keys()].entries()) {
      if (this.#isClosed) return;
      if ((index + ticks) % turns === 0 && this.#hosted.has(sessionId)) this.wake(sessionId);
      await yieldToEventLoop();
    }
  }

  /** Where several look at once, each takes its share, by chance. What nobody has taken is there again at the next look. */
  async #adopt(): Promise<void> {
    const { store, shared, random } = this.#options;
    await this.#adoptOpenPrograms();
    if (shared === undefined) {
      const orphans = await store.leases.findOrphans(limits.orphansTakenMax);
      for (const sessionId of orphans) this.#watch(sessionId, this.#adoptOne(sessionId));
      return;
    }
    const found = await store.leases.findOrphans(limits.sharedOrphansMax);
    this.#forgetElsewhere();
    const orphans = found.filter((sessionId) => !this.#elsewhere.has(sessionId));
    const share = Math.min(limits.orphansTakenMax, Math.ceil(orphans.length / (shared.countNodes?.() ?? 1)));
    for (const sessionId of shuffle(orphans, random).slice(0, share)) {
      this.#watch(sessionId, this.#adoptOne(sessionId));
    }
  }

  /**
   * Sessions that another process left idle while their program had something under way. No list of orphans has them, and
   * until they are recovered their approvals look open.
   */
  async #adoptOpenPrograms(): Promise<void> {
    if (this.#options.shared !== undefined && this.#ticks % limits.sharedPollTicks === 0)
      await this.#openPrograms.load();
    for (const sessionId of this.#openPrograms.left) {
      if (this.#hosted.has(sessionId)) this.#openPrograms.left.delete(sessionId);
      else if (!this.#elsewhere.has(sessionId)) this.#watch(sessionId, this.#adoptProgram(sessionId));
    }
  }

  async #adoptProgram(sessionId: string): Promise<void> {
    const { store } = this.#options;
    const isThere = (await store.heads([sessionId])).has(sessionId);
    if (!isThere) return this.#openPrograms.remove(sessionId);
    if ((await store.leases.findOwner(sessionId)) === undefined) await this.#adoptOne(sessionId);
  }

  /** Those that wait for their node must not keep the others from being found; now and then they are asked about again. */
  #forgetElsewhere(): void {
    for (const [sessionId, until] of this.#elsewhere) {
      if (this.#options.clock.steady() < until) return;
      this.#elsewhere.delete(sessionId);
    }
  }

  async #adoptOne(sessionId: string): Promise<void> {
    await this.#take(sessionId);
    const hosted = await this.#hosted.get(sessionId);
    // What is only told here belongs to who tells it. It was taken because nobody did any more, and is at rest now.
    if (hosted?.actor.state.created.is_read_only === true) await this.release(sessionId);
  }

  /** How many more sessions may be at work here. */
  #countRoom(): number {
    const { busySessionsMax = limits.busySessionsMax } = this.#options.shared ?? {};
    const opening = this.#hosted.size - this.#ready.size;
    const busy = [...this.#ready.values()].filter(({ actor }) => actor.isBusy).length;
    return busySessionsMax - busy - opening;
  }

  /** It belongs to somebody else now, or is gone: nothing may be written to it. */
  #forget(sessionId: string): void {
    if (this.#hosted.has(sessionId)) this.#watch(sessionId, this.release(sessionId));
  }

  #forgetDeleted(sessionId: string): void {
    this.#unwritable.delete(sessionId);
    this.#elsewhere.delete(sessionId);
    this.#lostBecause.delete(sessionId);
    this.#forget(sessionId);
  }

  async #end(sessionId: string, { actor, toolbox }: Hosted): Promise<void> {
    // What is under way now is lost. The mark stays, so that the next process recovers the session and logs the loss.
    const isLeftOpen = actor.hasOpenProgram;
    actor.drop();
    try {
      await actor.ended();
      await toolbox.close();
      if (isHeldByProgram(actor) && !isLeftOpen) await this.#openPrograms.remove(sessionId);
    } finally {
      await this.#options.store.leases.release({ sessionId, fence: actor.fence });
    }
  }

  /** What nobody waits for can fail all the same. */
  #watch(sessionId: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#problem(sessionId, error));
  }

  #problem(sessionId: string, error: unknown): void {
    if (isStoreError(error, 'not_found')) inBackground(this.#tellUnlessDeleted(sessionId, error), reportAsWarning);
    else this.#tell(sessionId, error);
  }

  /** Somebody deletes a session while another process is about to take it up: then there is nothing to do, and to tell. */
  async #tellUnlessDeleted(sessionId: string, error: unknown): Promise<void> {
    const isThere = await this.#options.store.heads([sessionId]).then(
      (heads) => heads.has(sessionId),
      () => true,
    );
    if (isThere) this.#tell(sessionId, error);
  }

  #tell(sessionId: string, error: unknown): void {
    if (!this.#isClosed) this.#options.onProblem?.(sessionId, error);
  }
}

const RELEASED =
  `this server keeps at most ${limits.idleProgramsMax} idle programs, and the program of this session was idle longest: ` +
  'send a message to go on';

/** Whether a program runs the session here. Sessions that were imported are only shown. */
function isHeldByProgram({ state }: SessionActor): boolean {
  return isProgram(state) && state.created.is_read_only !== true;
}

function tickMsOf({ shared }: HostOptions): number {
  return shared === undefined ? limits.hostTickMs : (shared.tickMs ?? limits.sharedTickMs);
}

function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
