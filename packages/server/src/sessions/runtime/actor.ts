import type { Command, TakenEvent } from '../core/command.ts';
import { untilAborted } from '../../base/until-aborted.ts';
import { inBackground } from '../../base/in-background.ts';
import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import { sessionLimits } from '../core/limits.ts';
import type { Cancel } from '../../base/schedule.ts';
import { storeError } from '../../store/store-errors.ts';
import type { Change } from '../../store/write.ts';
import type { WorkspaceChange } from '../../workspaces/snapshots/workspace-change.ts';
import { timeLeftMs } from '../core/state/budget.ts';
import { decide } from '../core/decide.ts';
import type { Sources } from '../core/draft.ts';
import type { NewSessionFrame } from '../../frames/frames.ts';
import type { UsageTotals } from '../../frames/payload-parts.ts';
import { type ControlOutcome, controlSession, type SessionControl } from './program/control-session.ts';
import { ProgramDriver } from './program/program-driver.ts';
import type { LoggedPrograms } from './program/read-logged.ts';
import { SessionPrograms } from './program/session-programs.ts';
import type { ActorOptions } from './actor-options.ts';
import { WorkspacePreparation } from './workspace-preparation.ts';
import { RequestActivity } from './request-activity.ts';
import { type RequestRunner, runRequest } from './run-request.ts';
import { RuleDecisions } from './rule-decisions.ts';
import { runMerge } from './run-merge.ts';
import { runTool, type ToolRunner } from './run-tool.ts';
import { SessionActivity } from './session-activity.ts';
import { SessionFiles } from './session-files.ts';
import { createSessionClock } from './session-clock.ts';
import { SessionWrites } from './writes/session-writes.ts';
import { agentOf } from '../core/state/agent-of.ts';
import { isProgramThread } from '../core/state/program-threads.ts';
import { type SessionState, threadOf } from '../core/state/state.ts';
import { toChanges } from '../core/steps/to-changes.ts';
import { toThreadHealth } from './to-thread-health.ts';
import { isWanted, toWanted, waitId } from './wanted-work.ts';

/**
 * Runs one session: decides each command, commits the frames, and starts the work that they announce. No work starts before
 * its frame is durable, and work that the state no longer wants is stopped.
 */
export class SessionActor {
  readonly #options: ActorOptions;
  readonly #requests: RequestRunner;
  readonly #programs: SessionPrograms;
  readonly #sources: Sources;
  /** Usage of open model requests. */
  readonly #spent = new Map<string, UsageTotals>();
  readonly #signs: RequestActivity;
  readonly #activity: SessionActivity;
  /** Requests and waits that the state wants. A session with an entry here, or in `#tools`, is not released. */
  readonly #work = new Map<string, AbortController>();
  /** Running tools, including those that were aborted. */
  readonly #tools = new Map<string, AbortController>();
  readonly #writes: SessionWrites;
  readonly #preparation: WorkspacePreparation;
  readonly #files: SessionFiles | null;
  /** Approvals of the session that rules decide. */
  readonly ruleDecisions: RuleDecisions;
  #isLost = false;
  /** When the session was last active, by the steady clock. */
  #happenedAt: number;
  #ended: Promise<unknown> | undefined;
  #cancelTime: Cancel = () => {};

  constructor(options: ActorOptions) {
    this.#options = options;
    const clock = createSessionClock(options.requests.clock, options.state);
    this.#signs = new RequestActivity(clock);
    this.#activity = new SessionActivity(options.state);
    const { log, fence } = options;
    const onLost = (error: unknown) => this.#lose(error);
    this.#writes = new SessionWrites({ log, fence, sessionId: options.state.id, onLost });
    this.#happenedAt = clock.steady();
    this.#sources = { ...options.sources, clock, spentOn: (startId) => this.#spent.get(startId) };
    this.#requests = {
      ...options.requests,
      clock,
      writeDelta: (frame) => this.#writes.writeDelta(frame, this.#activity.note(frame)),
      onUsage: (startId, spent) => void this.#spent.set(startId, spent),
      onSign: (startId, sign) => this.#signs.take(startId, sign),
      onProblems: (threadId, startId, problems) =>
        this.dispatch({ type: 'tool_problems', threadId, startId, problems }),
    };
    this.#files =
      options.recorder === null
        ? null
        : new SessionFiles({
            state: options.state,
            recorder: options.recorder,
            threads: options.threads ?? null,
            dispatch: (command, change) => this.dispatch(command, [], change),
          });
    this.#preparation = new WorkspacePreparation({
      sessionId: options.state.id,
      prepareWorkspace: options.prepareWorkspace ?? null,
      open: () => this.#openWorkspace(),
      onCloned: async () => await this.#files?.recordSetup(),
      onSetup: async (setup) => await this.#files?.logSetup(setup),
      onProblems: (problems) => this.dispatch({ type: 'preparation_problems', problems }),
    });
    this.#programs = new SessionPrograms(options.state, (rootId) => this.#createDriver(rootId));
    this.ruleDecisions = new RuleDecisions(options, (worktreeOwner) => this.#openWorkspace(worktreeOwner));
  }

  get state(): SessionState {
    return this.#options.state;
  }

  get fence(): number {
    return this.#options.fence;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get happenedAt(): number {
    return this.#happenedAt;
  }

  /** Whether work is in progress that a release would lose. */
  get isBusy(): boolean {
    const isAtWork = this.#work.size > 0 || this.#tools.size > 0 || this.#preparation.isUnderWay;
    return isAtWork || this.state.status === 'running' || this.state.status === 'rescheduling';
  }

  /**
   * Whether a program has work in progress although the session may be idle: a turn that waits for a decision, a background
   * command, a wake-up. Only its process can continue that work, so the session must not be released. Threads of model engines have
   * everything in the log.
   */
  get hasOpenProgram(): boolean {
    if (this.state.status === 'terminated') return false;
    return this.#programs.isOpen(this.#sources.clock.now());
  }

  /** Ends all programs, even if one has work in progress. The lost work is logged with the reason. */
  async releasePrograms(message: string): Promise<void> {
    await this.dispatch({ type: 'release_programs', message });
    if (!this.#isLost) await this.#programs.close();
  }

  /**
   * Applies a command. When this resolves, its frames are durable and the work that they announce has begun; or the session is
   * lost, and nothing was written. `change`: files that changed before the command, which are logged with it.
   */
  async dispatch(command: Command, changes: readonly Change[] = [], change?: WorkspaceChange): Promise<void> {
    if (this.#isLost) return;
    try {
      const draft = decide(this.state, command, this.#sources, change);
      this.#programs.accept(draft.frames);
      this.#stopUnwanted();
      if (draft.frames.length === 0 && changes.length === 0) return;
      this.#happenedAt = this.#options.requests.clock.steady();
      await this.#writes.write(draft.frames, [...toChanges(draft, this.#activity.threads), ...changes]);
      for (const frame of draft.frames) this.#begin(frame);
      if (this.#isLost) return;
      this.#programs.begin(draft.frames);
      this.ruleDecisions.follow(draft.frames);
    } catch (error) {
      this.#lose(error);
    }
  }

  /** Before `recover`: logs what the programs of the session did until they ended. */
  async recoverPrograms(readLogged: () => Promise<LoggedPrograms>): Promise<void> {
    if (this.state.created.is_read_only !== true) await this.#programs.recover(readLogged);
  }

  /** After the state was read from the log: ends work that its last owner left open, and resumes its waits. */
  async recover({
    hasLostWorkspace = false,
    hasLostFiles = true,
    cause,
  }: {
    hasLostWorkspace?: boolean;
    /** Whether the files of the workspace are lost too: where workspaces are shared, only the conversation of a program is lost. */
    hasLostFiles?: boolean;
    cause?: string | undefined;
  } = {}): Promise<void> {
    for (const { id, turn } of this.state.threads.values()) {
      if (turn?.phase.type === 'waiting') this.#wait(id, turn.phase.at);
    }
    this.#watchTime();
    if (!hasLostWorkspace) {
      await this.#files?.resumeMerge();
      await this.#files?.recordInterrupted();
    }
    await this.dispatch(hasLostWorkspace ? { type: 'workspace_lost', hasLostFiles } : { type: 'recover', cause });
    // The last owner may have ended between an approval and its decision.
    this.ruleDecisions.decideLater();
  }

  /** The recorded files of the session; null for a session without a source. */
  get files(): SessionFiles | null {
    return this.#files;
  }

  /** Begins to prepare the workspace before the first run, which then waits for it. Never rejects. */
  async prepare(): Promise<void> {
    await this.#preparation.prepare();
  }

  /** Whether a tool is running: its call cannot be repeated. */
  get isRunningTools(): boolean {
    return [...this.state.threads.values()].some(({ calls }) =>
      [...calls.values()].some(({ progress }) => progress.type === 'running'),
    );
  }

  /** The current activity of the threads, which is not in the log. */
  health(): readonly ThreadHealth[] {
    return toThreadHealth(this.state, { signs: this.#signs, vitalsOf: (thread) => this.#programs.vitalsOf(thread) });
  }

  /** Sends a request outside of turns to the program of the session's own agent. */
  async control(control: SessionControl): Promise<ControlOutcome> {
    const driver = this.#programs.driverOf(this.state.created.primary_thread_id);
    const program = await driver.find({ isResumed: control.request.type === 'rewind' });
    const log = (event: TakenEvent['event']) => this.dispatch({ type: 'program', events: [{ event }] });
    const outcome = await controlSession({ state: this.state, program, log }, control);
    if (!this.#isLost) return outcome;
    const problem = `${this.state.id} was taken over by another process, and its log may not have the request`;
    return { type: 'refused', code: 'session_elsewhere', problem };
  }

  /** Drops the session if its lease has expired. Called before any work begins. */
  #checkOwner(): void {
    const { isOwner = () => true } = this.#options;
    if (!this.#isLost && !isOwner()) this.#lose(storeError('stale_owner', `the lease of ${this.state.id} has run out`));
  }

  /** Stops everything without logging it: the next owner of the session recovers it. */
  drop(): void {
    this.#isLost = true;
    this.#preparation.stop();
    this.#ended ??= this.#programs.drop();
    for (const works of [this.#work, this.#tools]) {
      for (const work of works.values()) work.abort();
      works.clear();
    }
    this.ruleDecisions.stop();
    this.#cancelTime();
  }

  /** After `drop`: resolves when everything that was started has ended, and every write is durable or rejected. */
  async ended(): Promise<void> {
    await this.#ended;
    await this.#files?.close();
    await this.ruleDecisions.ended();
    await this.#writes.settled();
  }

  #createDriver(rootId: string): ProgramDriver {
    const { engineOf, openWorkspace } = this.#options.programs;
    const { nextEventId, clock, schedule, writeDelta, models } = this.#requests;
    return new ProgramDriver({
      engine: engineOf(agentOf(this.state, threadOf(this.state, rootId)).model.id),
      openWorkspace: async (sessionId) => {
        await this.#preparation.prepare();
        return await openWorkspace(sessionId);
      },
      state: this.state,
      rootId,
      nextEventId,
      clock,
      schedule,
      writeDelta,
      costNanoUsd: (model, usage, speed) => models.costNanoUsd(model, usage, speed),
      files: this.#files,
      dispatch: (events, change) => this.dispatch({ type: 'program', rootId, events }, [], change),
    });
  }

  /** The state is ahead of the log, so it cannot be used any more: the session is read again from its log. */
  #lose(error: unknown): void {
    if (this.#isLost) return;
    this.drop();
    this.#options.onLost(error);
  }

  /** Runs work that dispatches its outcome. An unexpected failure loses the session, which is then recovered. */
  #run(work: Promise<unknown>): void {
    inBackground(work, (error) => this.#lose(error));
  }

  /** A frame is durable: starts the work that it announces, if the state still wants it. */
  #begin(frame: NewSessionFrame): void {
    const { threadId, type, payload } = frame;
    this.#checkOwner();
    if (this.#isLost) return;
    if (type === 'session.status_running') this.#preparation.beginRun();
    if (type === 'span.model_request_start') this.#run(this.#request(threadId!, payload.id));
    else if (type === 'run.started') this.#watchTime();
    else if (type === 'tool.started') this.#run(this.#tool(threadId!, payload.tool_use_id));
    else if (type === 'session.error' && payload.retry_at !== null) this.#wait(threadId!, payload.retry_at);
    else if (type === 'session.thread_status_terminated') this.#options.tools.onThreadEnd(payload.session_thread_id);
  }

  /** Checks when the time budget of the run is used up. Time does not pass while the session is idle, so it may check again. */
  #watchTime(): void {
    const { schedule } = this.#options;
    const leftMs = timeLeftMs(this.state, this.#sources.clock.now());
    this.#cancelTime();
    if (leftMs === null || this.#isLost) return;
    // After that, tools may take a while to stop: until then it checks once per tick.
    const waitMs = leftMs > 0 && this.state.active.since !== null ? leftMs : sessionLimits.hostTickMs;
    this.#cancelTime = schedule(() => void this.dispatch({ type: 'time' }).then(() => this.#watchTime()), waitMs);
  }

  async #request(threadId: string, startId: string): Promise<void> {
    if (!isWanted(this.state, threadId, startId)) return;
    const signal = this.#start(this.#work, threadId, startId);
    // An engine ends a request whose signal is aborted.
    if (this.#preparation.isNeeded) await untilAborted(this.#preparation.prepare(), signal).catch(() => undefined);
    this.#signs.begin(startId);
    const failed = await this.#files?.prepareFor(threadId, startId, this.#preparation.failedSetup);
    const command = failed ?? (await runRequest(this.#requests, this.state, threadId, startId, signal));
    // Without its workspace the request did not start, and opening it again only to record would fail again.
    const change = failed === undefined ? await this.#files?.recordAnswer(command) : undefined;
    this.#work.delete(startId);
    this.#spent.delete(startId);
    this.#signs.end(startId);
    await this.dispatch(command, [], change);
  }

  async #tool(threadId: string, toolUseId: string): Promise<void> {
    const thread = threadOf(this.state, threadId);
    const call = thread.calls.get(toolUseId);
    if (call?.progress.type !== 'running') return;
    // A program runs its own tools.
    if (call.kind !== 'session' && isProgramThread(this.state, thread)) return;
    const runner: ToolRunner = {
      ...this.#options.tools,
      openWorkspace: (_, worktreeOwner) => this.#openWorkspace(worktreeOwner),
      checkOwner: () => this.#checkOwner(),
    };
    const signal = this.#start(this.#tools, threadId, toolUseId);
    await this.#files?.beginCall(threadId, call);
    const result = await (call.kind === 'session'
      ? runMerge(this.#files, call)
      : runTool(runner, this.state, threadId, call, signal));
    // Before the tool counts as finished: the next model request must not start without the change in the log.
    const change = await this.#files?.recordCall(threadId, call);
    this.#tools.delete(toolUseId);
    await this.dispatch({ type: 'tool_finished', threadId, toolUseId, result }, [], change);
  }

  /** A process that lost the session must not bind its workspace to this node. */
  async #openWorkspace(worktreeOwner: string | null = null): Promise<string> {
    this.#checkOwner();
    if (this.#isLost) throw storeError('stale_owner', `the session ${this.state.id} is not owned here any more`);
    if (worktreeOwner !== null && this.#files !== null) return await this.#files.openWorktree(worktreeOwner);
    return this.#options.tools.openWorkspace(this.state.id);
  }

  #wait(threadId: string, at: number): void {
    const { schedule } = this.#options;
    const id = waitId(threadId, at);
    if (!isWanted(this.state, threadId, id)) return;
    const cancel = schedule(
      () => {
        this.#work.delete(id);
        this.#run(this.dispatch({ type: 'retry', threadId, at }));
      },
      Math.max(0, at - this.#sources.clock.now()),
    );
    this.#start(this.#work, threadId, id).addEventListener('abort', cancel);
  }

  #start(works: Map<string, AbortController>, threadId: string, id: string): AbortSignal {
    const work = new AbortController();
    works.set(id, work);
    if (!isWanted(this.state, threadId, id)) work.abort();
    return work.signal;
  }

  /**
   * A stopped request or wait is forgotten at once: its later output is ignored, and an engine that
   * ignores its signal must not keep the session. The session waits for a stopped tool, but not for long.
   */
  #stopUnwanted(): void {
    const wanted = new Set([...this.state.threads.values()].flatMap(toWanted));
    for (const [id, work] of this.#work) {
      if (wanted.has(id)) continue;
      work.abort();
      this.#work.delete(id);
    }
    for (const [id, tool] of this.#tools) if (!wanted.has(id)) tool.abort();
    this.#programs.stopUnwanted();
  }
}
