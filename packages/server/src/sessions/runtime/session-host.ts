import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import { type Cancel, systemSchedule } from '../../base/schedule.ts';
import { sessionLimits } from '../core/limits.ts';
import type { EgressEntry } from '../../frames/egress-entry.ts';
import { storeError } from '../../store/store-errors.ts';
import type { SessionActor } from './actor.ts';
import { type HostOptions, type ResolvedHostOptions, tickMsOf } from './host/host-options.ts';
import { type HostedFigures, HostedSessions } from './host/hosted-sessions.ts';
import { IdleReleaser } from './host/idle-releaser.ts';
import { LeaseKeeper } from './host/lease-keeper.ts';
import { ProblemReporter } from './host/problem-reporter.ts';
import { type AdopterFigures, SessionAdopter } from './host/session-adopter.ts';
import type { CommandOutcome } from './owner/command-outcome.ts';
import { type CommandRun, runCommand } from './owner/run-command.ts';
import type { SessionCommand } from './owner/session-command.ts';
import { type Batch, toBatches } from './owner/to-batches.ts';
import { waitUntil } from './owner/wait-until.ts';
import type { ControlOutcome, SessionControl } from './program/control-session.ts';

/** Counts of the sessions of this process and of those without an owner. */
export type SessionFigures = HostedFigures & AdopterFigures;

/** How often a closing host checks whether the tools of a session have ended. */
const HAND_OVER_POLL_MS = 20;

/**
 * Runs the sessions that this process owns. It opens a session that has work to do, applies its inputs, and
 * releases it when it is idle. The parts are in host/: leases, adoption, release.
 */
export class SessionHost {
  readonly #options: ResolvedHostOptions;
  readonly #reporter: ProblemReporter;
  readonly #sessions: HostedSessions;
  readonly #leases: LeaseKeeper;
  readonly #adopter: SessionAdopter;
  readonly #idle: IdleReleaser;
  /** Sessions whose inputs are being applied. */
  readonly #applying = new Map<string, Promise<boolean>>();
  #unsubscribe: () => void = () => {};
  #cancelTick: Cancel = () => {};
  #ticks = 0;
  #isFailing = false;
  #isClosed = false;

  constructor(options: HostOptions) {
    this.#options = { schedule: systemSchedule, ...options };
    this.#reporter = new ProblemReporter(options);
    this.#sessions = new HostedSessions(this.#options, this.#reporter);
    this.#leases = new LeaseKeeper(this.#options, this.#sessions);
    this.#idle = new IdleReleaser(this.#options, this.#sessions, this.#reporter);
    this.#adopter = new SessionAdopter({
      ...this.#options,
      sessions: this.#sessions,
      reporter: this.#reporter,
      applyInputs: (sessionId) => this.#applyInputs(sessionId),
    });
  }

  /** Adopts sessions with pending inputs and sessions whose owner died, and keeps doing so. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#options.store.subscribe((signals) => {
      for (const { type, sessionId } of signals) {
        if (type === 'inputs') this.#receiveSignal(sessionId);
        else if (type === 'deleted') this.#sessions.forgetDeleted(sessionId);
      }
    });
    await this.#sessions.openPrograms.load();
    await this.#adopter.adopt(this.#ticks);
    this.#leases.start();
    this.#tick();
  }

  /** Applies the pending inputs of a session in the background. */
  wake(sessionId: string): void {
    this.#reporter.watch(sessionId, this.#applyInputs(sessionId));
  }

  /** Begins to prepare the workspace of a new session in the background: its repositories are cloned. */
  prepare(sessionId: string): void {
    const prepare = async () => await (await this.#sessions.open(sessionId))?.actor.prepare();
    this.#reporter.watch(sessionId, prepare());
  }

  /** Watches a session that a client follows, to recover it when the client has stopped: until then its approvals look open. */
  async watchFollowed(sessionId: string): Promise<void> {
    await this.#sessions.openPrograms.addElsewhere(sessionId);
  }

  /** Resolves when the pending inputs of the session are applied, here or by its owner, or the owner did not respond in time. */
  async applyInputs(sessionId: string): Promise<void> {
    if ((await this.#applyInputs(sessionId)) || this.#isClosed) return;
    const { store } = this.#options;
    const last = await store.inputs.lastPosition(sessionId);
    if (last === undefined) return;
    await waitUntil(this.#options, sessionId, sessionLimits.ownerWaitMs, async () => {
      const [first] = await store.inputs.peek(sessionId, 1);
      return first === undefined || first.position > last || this.#isClosed ? true : undefined;
    });
  }

  /** Runs a command if this process owns the session or can acquire it. Undefined if another process owns it. */
  async command(
    sessionId: string,
    toCommand: (actor: SessionActor) => SessionCommand,
  ): Promise<CommandOutcome | undefined> {
    const isNew = !this.#sessions.has(sessionId);
    const hosted = await this.#sessions.open(sessionId);
    if (hosted === undefined) return undefined;
    // Applies inputs that were sent while the session had no owner: it is not an orphan any more, so no other node does.
    if (isNew) this.wake(sessionId);
    hosted.usedAt = this.#options.clock.steady();
    const { log } = this.#options;
    const run = await runCommand({ log, actor: hosted.actor }, toCommand(hosted.actor), () => []);
    await this.#endAfter(sessionId, run);
    return hosted.actor.isLost && !run.isOver ? undefined : run.outcome;
  }

  /** As `command`, in order with inputs: no turn begins while files are replaced or removed. */
  async exclusiveCommand(sessionId: string, command: SessionCommand): Promise<CommandOutcome | undefined> {
    let outcome: CommandOutcome | undefined;
    await this.#inOrder(sessionId, async () => {
      outcome = await this.command(sessionId, () => command);
      return true;
    });
    return outcome;
  }

  /** The activity of the threads of a session. Undefined if this process does not own it. */
  health(sessionId: string): readonly ThreadHealth[] | undefined {
    const hosted = this.#sessions.ready.get(sessionId);
    return hosted === undefined || hosted.actor.isLost || !hosted.lease.isHeld ? undefined : hosted.actor.health();
  }

  /** Logs connections of programs of a session. Throws if this process does not own it. */
  async logConnections(sessionId: string, entries: readonly EgressEntry[]): Promise<void> {
    const actor = this.#sessions.ready.get(sessionId)?.actor;
    await actor?.dispatch({ type: 'connections', entries });
    if (actor === undefined || actor.isLost) throw storeError('stale_owner', `${sessionId} is not owned here any more`);
  }

  /** Sends a request to the program of a session that this process owns, or can acquire for a rewind. Undefined: another owns it. */
  async control(sessionId: string, control: SessionControl): Promise<ControlOutcome | undefined> {
    const isRewind = control.request.type === 'rewind';
    const hosted = isRewind ? await this.#sessions.open(sessionId) : this.#sessions.ready.get(sessionId);
    if (hosted === undefined || hosted.actor.isLost || !hosted.lease.isHeld) return undefined;
    hosted.usedAt = this.#options.clock.steady();
    return await hosted.actor.control(control);
  }

  /** Sessions that are open here, being opened, or whose inputs are being applied. */
  get openCount(): number {
    return new Set([...this.#sessions.ids, ...this.#sessions.ready.keys(), ...this.#applying.keys()]).size;
  }

  get figures(): SessionFigures {
    return { ...this.#sessions.figures, ...this.#adopter.figures };
  }

  /** Stops all work where it is, for the next owner to continue. Where nodes share sessions, running tools may finish first. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reporter.close();
    this.#sessions.close();
    this.#unsubscribe();
    this.#cancelTick();
    await Promise.allSettled(this.#applying.values());
    await Promise.allSettled(this.#sessions.ids.map((sessionId) => this.#handOver(sessionId)));
    // Leases are renewed until every session is released.
    this.#leases.close();
  }

  /** A tool call that is cut off cannot be repeated, and the next owner would have to report it to the agent as lost. */
  async #handOver(sessionId: string): Promise<void> {
    const { shared, clock } = this.#options;
    const hosted = await this.#sessions.get(sessionId);
    const until = clock.steady() + (shared?.handOverToolsMs ?? sessionLimits.handOverToolsMs);
    const mayWait = () => shared !== undefined && hosted !== undefined && !hosted.actor.isLost;
    while (mayWait() && hosted!.actor.isRunningTools && hosted!.lease.isHeld && clock.steady() < until) {
      await new Promise<void>((resolve) => void this.#options.schedule(resolve, HAND_OVER_POLL_MS));
    }
    await this.#sessions.release(sessionId);
  }

  /** Applies the inputs of a session, one call at a time. Resolves with false if another process has to apply them. */
  async #applyInputs(sessionId: string): Promise<boolean> {
    return await this.#inOrder(sessionId, () => this.#applyAll(sessionId));
  }

  async #inOrder(sessionId: string, work: () => Promise<boolean>): Promise<boolean> {
    if (this.#isClosed) return false;
    const before = this.#applying.get(sessionId) ?? Promise.resolve();
    const applying = before.then(work, work);
    this.#applying.set(sessionId, applying);
    try {
      return await applying;
    } finally {
      if (this.#applying.get(sessionId) === applying) this.#applying.delete(sessionId);
    }
  }

  async #applyAll(sessionId: string): Promise<boolean> {
    const { store, clock } = this.#options;
    const hosted = await this.#sessions.open(sessionId);
    if (hosted === undefined) return false;
    const { actor } = hosted;
    while (!this.#isClosed) {
      const records = await store.inputs.peek(sessionId, sessionLimits.inputsTakenMax);
      if (records.length === 0) return true;
      hosted.usedAt = clock.steady();
      for (const batch of toBatches(records)) {
        if (batch.type === 'inputs') {
          const consumed = { type: 'consume_inputs' as const, inputIds: batch.inputs.map(({ id }) => id) };
          await actor.dispatch({ type: 'inputs', inputs: batch.inputs }, [consumed]);
        } else {
          const run = await this.#runForwarded(actor, batch);
          await this.#endAfter(sessionId, run);
          if (run.isOver) return true;
        }
        if (actor.isLost) return false;
      }
    }
    return false;
  }

  /** Runs a command that another node forwarded. */
  async #runForwarded(
    actor: SessionActor,
    { command, expiresAt, toChanges }: Extract<Batch, { type: 'command' }>,
  ): Promise<CommandRun> {
    const { store, clock, log } = this.#options;
    const forwarded = (await store.now()) < expiresAt ? command : { type: 'too_late' as const };
    return await runCommand({ log, actor }, forwarded, (outcome) => toChanges(outcome, clock.now()));
  }

  async #endAfter(sessionId: string, { isOver, isDiscarded = false }: CommandRun): Promise<void> {
    if (isOver) await this.#sessions.release(sessionId);
    // No tool or program uses the workspace any more.
    if (isDiscarded) await this.#options.removeWorkspace?.(sessionId);
  }

  /** Only the owner of a session reacts to its signals, and the node that has its workspace. */
  #receiveSignal(sessionId: string): void {
    const { shared } = this.#options;
    if (shared === undefined || this.#sessions.has(sessionId)) return this.wake(sessionId);
    const guess = shared.locations?.isHere(sessionId) ?? Promise.resolve(false);
    this.#reporter.watch(
      sessionId,
      guess.then((isHere) => isHere && this.#applyInputs(sessionId)),
    );
  }

  /** Releases idle sessions, looks for inputs without a signal, and adopts sessions without an owner. */
  #tick(): void {
    this.#cancelTick = this.#options.schedule(() => {
      this.#ticks += 1;
      this.#idle.releaseIdle((sessionId) => this.#applying.has(sessionId));
      this.#reporter.watch('', this.#pollInputs());
      this.#adopter
        .adopt(this.#ticks)
        .then(
          () => (this.#isFailing = false),
          (error: unknown) => {
            // A store that cannot be reached is reported once, not with every tick.
            if (!this.#isFailing) this.#reporter.report('', error);
            this.#isFailing = true;
          },
        )
        .finally(() => this.#isClosed || this.#tick());
    }, tickMsOf(this.#options));
  }

  /** Signals are hints: a lost one must not leave inputs behind. One query for all sessions, as there may be thousands. */
  async #pollInputs(): Promise<void> {
    const { store, owner } = this.#options;
    // The adopter reports a store that cannot be reached.
    const waiting = await store.leases.findWithInputs(owner).catch(() => []);
    for (const sessionId of waiting) {
      if (!this.#isClosed && this.#sessions.has(sessionId) && !this.#applying.has(sessionId)) this.wake(sessionId);
    }
  }
}
