import { inBackground } from '../base/in-background.ts';
import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import type { SessionLog } from '../store/log.ts';
import { limits } from '../base/limits.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import { storeError } from '../store/store-errors.ts';
import type { Change } from '../store/write.ts';
import { timeLeftMs } from './budget.ts';
import { type Command, decide } from './decide.ts';
import type { Sources } from './draft.ts';
import type { NewSessionFrame, UsageTotals } from '../frames/frames.ts';
import { ProgramDriver, type ProgramDriverOptions } from './program/program-driver.ts';
import { RequestSigns } from './request-signs.ts';
import { type RequestRunner, runRequest } from './run-request.ts';
import { runTool, type ToolRunner } from './run-tool.ts';
import { createSessionClock } from './session-clock.ts';
import { type SessionState, type ThreadState, threadOf, workUnderWay } from './state.ts';
import { toChanges } from './to-changes.ts';
import { toThreadHealth } from './to-thread-health.ts';

export interface ActorOptions {
  readonly state: SessionState;
  readonly fence: number;
  readonly log: SessionLog;
  readonly sources: Sources;
  readonly schedule: Schedule;
  readonly requests: Omit<RequestRunner, 'writeDelta' | 'onUsage' | 'onSign' | 'onProblems'>;
  readonly tools: Omit<ToolRunner, 'checkOwner'>;
  /** Runs the whole session, if its agent is a program. */
  readonly program: Pick<ProgramDriverOptions, 'engine' | 'openWorkspace'> | null;
  /** Somebody else owns the session, or the log is closed: nothing may be done for it here any more. */
  readonly onLost: (error: unknown) => void;
  /** Whether this process may still believe that the session is its own. */
  readonly isOwner?: (() => boolean) | undefined;
}

interface Recovery {
  readonly hasLostWorkspace?: boolean | undefined;
  /** Why this process gave the session up before, if it did. */
  readonly cause?: string | undefined;
}

/**
 * One session at work: it takes what happens, writes what follows, and does what is due. Nothing is done before the
 * intent to do it is durable, and everything under way that the state no longer wants is stopped.
 */
export class SessionActor {
  readonly #options: ActorOptions;
  readonly #requests: RequestRunner;
  readonly #driver: ProgramDriver | null;
  readonly #sources: Sources;
  /** What requests under way have used up. */
  readonly #spent = new Map<string, UsageTotals>();
  readonly #signs: RequestSigns;
  /** Requests and waits that the state wants. A session with an entry here, or in `#tools`, is not let go. */
  readonly #work = new Map<string, AbortController>();
  /** Tools that run, also those that were told to stop. */
  readonly #tools = new Map<string, AbortController>();
  readonly #writing = new Set<Promise<unknown>>();
  #isLost = false;
  #ended: Promise<void> | undefined;
  #cancelTime: Cancel = () => {};

  constructor(options: ActorOptions) {
    this.#options = options;
    const clock = createSessionClock(options.requests.clock, options.state);
    this.#signs = new RequestSigns(clock);
    this.#sources = { ...options.sources, clock, spentOn: (startId) => this.#spent.get(startId) };
    this.#requests = {
      ...options.requests,
      clock,
      writeDelta: (frame) => this.#write([frame], []).catch((error: unknown) => this.#lose(error)),
      onUsage: (startId, spent) => void this.#spent.set(startId, spent),
      onSign: (startId, sign) => this.#signs.take(startId, sign),
      onProblems: (threadId, startId, problems) =>
        this.dispatch({ type: 'tool_problems', threadId, startId, problems }),
    };
    this.#driver = options.program === null ? null : this.#createDriver(options.program);
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

  /** Whether something is under way that would be lost if it were let go. */
  get isBusy(): boolean {
    const isAtWork = this.#work.size > 0 || this.#tools.size > 0;
    return isAtWork || this.state.status === 'running' || this.state.status === 'rescheduling';
  }

  /**
   * Whether the program of the session has something under way although the session may be idle: a turn that waits for an
   * answer, a background command, a wake-up. Only its process can go on with it, so the session must not be released.
   * Sessions of model engines have everything in the log.
   */
  get hasOpenProgram(): boolean {
    if (this.#driver === null || this.state.status === 'terminated') return false;
    const hasTurn = [...this.state.threads.values()].some(({ turn }) => turn !== null);
    return hasTurn || workUnderWay(this.state, this.#sources.clock.now()).length > 0;
  }

  /** Ends the program although it has something under way. What is lost is logged with the reason. */
  async releaseProgram(message: string): Promise<void> {
    await this.dispatch({ type: 'release_program', message });
    if (!this.#isLost) await this.#driver?.close();
  }

  /**
   * Something happened. It is durable when this resolves, and what follows from it has begun; or the session is lost,
   * and nothing was written.
   */
  async dispatch(command: Command, changes: readonly Change[] = []): Promise<void> {
    if (this.#isLost) return;
    try {
      const draft = decide(this.state, command, this.#sources);
      this.#driver?.accept(draft.frames);
      this.#stopUnwanted();
      if (draft.frames.length === 0 && changes.length === 0) return;
      await this.#write(draft.frames, [...toChanges(draft), ...changes]);
      for (const frame of draft.frames) this.#begin(frame);
      if (!this.#isLost) this.#driver?.begin(draft.frames);
    } catch (error) {
      this.#lose(error);
    }
  }

  /** After the state was read from the log: ends what its last owner left open, and waits on for what it waited for. */
  async recover({ hasLostWorkspace = false, cause }: Recovery = {}): Promise<void> {
    for (const { id, turn } of this.state.threads.values()) {
      if (turn?.phase.type === 'waiting') this.#wait(id, turn.phase.at);
    }
    this.#watchTime();
    await this.dispatch(hasLostWorkspace ? { type: 'workspace_lost' } : { type: 'recover', cause });
  }

  /** Whether a tool runs: what it does cannot be repeated. */
  get isRunningTools(): boolean {
    return [...this.state.threads.values()].some(({ calls }) =>
      [...calls.values()].some(({ progress }) => progress.type === 'running'),
    );
  }

  /** What its threads do at this moment, which is in no log. */
  health(): readonly ThreadHealth[] {
    return toThreadHealth(this.state, { signs: this.#signs, program: this.#driver?.vitals });
  }

  /** Nobody knows any more whose session it is. Said before anything is begun. */
  #checkOwner(): void {
    const { isOwner = () => true } = this.#options;
    if (!this.#isLost && !isOwner()) this.#lose(storeError('stale_owner', `the lease of ${this.state.id} has run out`));
  }

  /** Stops everything without a word in the log: whoever opens the session next recovers it. */
  drop(): void {
    this.#isLost = true;
    this.#ended ??= this.#driver?.drop();
    for (const works of [this.#work, this.#tools]) {
      for (const work of works.values()) work.abort();
      works.clear();
    }
    this.#cancelTime();
  }

  /** After `drop`: nothing that it has started is left, and what it has written is durable or refused. */
  async ended(): Promise<void> {
    await this.#ended;
    await Promise.allSettled(this.#writing);
  }

  #createDriver(program: NonNullable<ActorOptions['program']>): ProgramDriver {
    const { nextEventId, clock, schedule, writeDelta, models } = this.#requests;
    return new ProgramDriver({
      ...program,
      state: this.state,
      nextEventId,
      clock,
      schedule,
      writeDelta,
      costNanoUsd: (model, usage, speed) => models.costNanoUsd(model, usage, speed),
      dispatch: (events) => this.dispatch({ type: 'program', events }),
    });
  }

  async #write(frames: readonly NewSessionFrame[], changes: readonly Change[]): Promise<void> {
    const { log, fence } = this.#options;
    const writing = log.append({ type: 'append', sessionId: this.state.id, fence, frames, changes });
    this.#writing.add(writing);
    try {
      await writing;
    } finally {
      this.#writing.delete(writing);
    }
  }

  /** The state is ahead of the log now, so it is worth nothing: only who reads the log again knows what is true. */
  #lose(error: unknown): void {
    if (this.#isLost) return;
    this.drop();
    this.#options.onLost(error);
  }

  /** Work whose outcome is dispatched. An unforeseen failure on the way there gives the session up, to be recovered. */
  #run(work: Promise<unknown>): void {
    inBackground(work, (error) => this.#lose(error));
  }

  /** A frame is durable. If it says that something is to be done, and that is still so, it is done. */
  #begin(frame: NewSessionFrame): void {
    const { threadId, type, payload } = frame;
    this.#checkOwner();
    if (this.#isLost) return;
    if (type === 'span.model_request_start') this.#run(this.#request(threadId!, payload.id));
    else if (type === 'run.started') this.#watchTime();
    // What a program has started, it runs itself.
    else if (type === 'tool.started' && this.#driver === null) this.#run(this.#tool(threadId!, payload.tool_use_id));
    else if (type === 'session.error' && payload.retry_at !== null) this.#wait(threadId!, payload.retry_at);
    else if (type === 'session.thread_status_terminated') this.#options.tools.onThreadEnd(payload.session_thread_id);
  }

  /** Looks when the time of the run is up. While nobody is at work it does not pass, so it may have to look again. */
  #watchTime(): void {
    const { schedule } = this.#options;
    const leftMs = timeLeftMs(this.state, this.#sources.clock.now());
    this.#cancelTime();
    if (leftMs === null || this.#isLost) return;
    // When it is up, tools may take a while to stop: nobody is to look all the time meanwhile.
    const waitMs = leftMs > 0 && this.state.active.since !== null ? leftMs : limits.hostTickMs;
    this.#cancelTime = schedule(() => void this.dispatch({ type: 'time' }).then(() => this.#watchTime()), waitMs);
  }

  async #request(threadId: string, startId: string): Promise<void> {
    if (!isWanted(this.state, threadId, startId)) return;
    const signal = this.#start(this.#work, threadId, startId);
    this.#signs.begin(startId);
    const command = await runRequest(this.#requests, this.state, threadId, startId, signal);
    this.#work.delete(startId);
    this.#spent.delete(startId);
    this.#signs.end(startId);
    await this.dispatch(command);
  }

  async #tool(threadId: string, toolUseId: string): Promise<void> {
    const call = threadOf(this.state, threadId).calls.get(toolUseId);
    if (call?.progress.type !== 'running') return;
    const runner: ToolRunner = {
      ...this.#options.tools,
      openWorkspace: () => this.#openWorkspace(),
      checkOwner: () => this.#checkOwner(),
    };
    const signal = this.#start(this.#tools, threadId, toolUseId);
    const result = await runTool(runner, this.state, threadId, call, signal);
    this.#tools.delete(toolUseId);
    await this.dispatch({ type: 'tool_finished', threadId, toolUseId, result });
  }

  /** Who has lost the session must not say that it lives here. */
  async #openWorkspace(): Promise<string> {
    this.#checkOwner();
    if (this.#isLost) throw storeError('stale_owner', `the session ${this.state.id} is not owned here any more`);
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
   * A request or a wait that is stopped is forgotten at once: nothing that it still says is taken, and an engine that
   * ignores its signal must not keep the session. A tool that is stopped is waited for, but not for long.
   */
  #stopUnwanted(): void {
    const wanted = new Set([...this.state.threads.values()].flatMap(toWanted));
    for (const [id, work] of this.#work) {
      if (wanted.has(id)) continue;
      work.abort();
      this.#work.delete(id);
    }
    for (const [id, tool] of this.#tools) if (!wanted.has(id)) tool.abort();
    this.#driver?.stopUnwanted();
  }
}

function waitId(threadId: string, at: number): string {
  return `${threadId} ${at}`;
}

function isWanted(state: SessionState, threadId: string, id: string): boolean {
  return toWanted(threadOf(state, threadId)).includes(id);
}

/** What a thread still waits for: a request, the end of a wait, tools that nobody stopped. */
function toWanted({ id: threadId, turn, calls }: ThreadState): string[] {
  if (turn === null) return [];
  const { phase, stopping } = turn;
  const running = stopping === null ? [...calls.values()].filter(({ progress }) => progress.type === 'running') : [];
  const wanted = running.map(({ id }) => id);
  if (phase.type === 'requesting') wanted.push(phase.startId);
  if (phase.type === 'waiting') wanted.push(waitId(threadId, phase.at));
  return wanted;
}
