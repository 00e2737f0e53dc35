import type { SessionLog } from '../store/log.ts';
import { limits } from '../base/limits.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import type { Change } from '../store/write.ts';
import type { ToolProblem } from '../tools/toolbox.ts';
import { timeLeftMs } from './budget.ts';
import { type Command, decide } from './decide.ts';
import type { Sources } from './draft.ts';
import type { NewSessionFrame } from '../frames/frames.ts';
import { type RequestRunner, runRequest } from './run-request.ts';
import { runTool, type ToolRunner } from './run-tool.ts';
import { type SessionState, threadOf } from './state.ts';
import { toChanges } from './to-changes.ts';

export interface ActorOptions {
  readonly state: SessionState;
  readonly fence: number;
  readonly log: SessionLog;
  readonly sources: Sources;
  readonly schedule: Schedule;
  readonly requests: Omit<RequestRunner, 'writeDelta' | 'onProblems'>;
  readonly tools: ToolRunner;
  /** Somebody else owns the session, or the log is closed: nothing may be done for it here any more. */
  readonly onLost: (error: unknown) => void;
}

/**
 * One session at work: it takes what happens, writes what follows, and does what is due. Nothing is done before the
 * intent to do it is durable, and everything under way that the state no longer wants is stopped.
 */
export class SessionActor {
  readonly #options: ActorOptions;
  readonly #work = new Map<string, AbortController>();
  #isLost = false;
  #cancelTime: Cancel = () => {};

  constructor(options: ActorOptions) {
    this.#options = options;
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
    return this.#work.size > 0 || this.state.status === 'running' || this.state.status === 'rescheduling';
  }

  /**
   * Something happened. It is durable when this resolves, and what follows from it has begun; or the session is lost,
   * and nothing was written.
   */
  async dispatch(command: Command, changes: readonly Change[] = []): Promise<void> {
    if (this.#isLost) return;
    try {
      const draft = decide(this.state, command, this.#options.sources);
      this.#stopUnwanted();
      if (draft.frames.length === 0 && changes.length === 0) return;
      await this.#write(draft.frames, [...toChanges(draft), ...changes]);
      for (const frame of draft.frames) this.#begin(frame);
    } catch (error) {
      this.#lose(error);
    }
  }

  /** After the state was read from the log: ends what its last owner left open, and waits on for what it waited for. */
  async recover(): Promise<void> {
    for (const { id, turn } of this.state.threads.values()) {
      if (turn?.phase.type === 'waiting') this.#wait(id, turn.phase.at);
    }
    this.#watchTime();
    await this.dispatch({ type: 'recover' });
  }

  /** Stops everything without a word in the log: whoever opens the session next recovers it. */
  drop(): void {
    this.#isLost = true;
    for (const work of this.#work.values()) work.abort();
    this.#work.clear();
    this.#cancelTime();
  }

  async #write(frames: readonly NewSessionFrame[], changes: readonly Change[]): Promise<void> {
    const { log, fence } = this.#options;
    await log.append({ type: 'append', sessionId: this.state.id, fence, frames, changes });
  }

  /** The state is ahead of the log now, so it is worth nothing: only who reads the log again knows what is true. */
  #lose(error: unknown): void {
    if (this.#isLost) return;
    this.drop();
    this.#options.onLost(error);
  }

  /** A frame is durable. If it says that something is to be done, and that is still so, it is done. */
  #begin(frame: NewSessionFrame): void {
    const { threadId, type, payload } = frame;
    if (this.#isLost) return;
    if (type === 'span.model_request_start') void this.#request(threadId!, payload.id);
    else if (type === 'run.started') this.#watchTime();
    else if (type === 'tool.started') void this.#tool(threadId!, payload.tool_use_id);
    else if (type === 'session.error' && payload.retry_at !== null) this.#wait(threadId!, payload.retry_at);
    else if (type === 'session.thread_status_terminated') this.#options.tools.onThreadEnd(payload.session_thread_id);
  }

  /** Looks when the time of the run is up. While nobody is at work it does not pass, so it may have to look again. */
  #watchTime(): void {
    const { schedule, sources } = this.#options;
    const leftMs = timeLeftMs(this.state, sources.clock.now());
    this.#cancelTime();
    if (leftMs === null || this.#isLost) return;
    // When it is up, tools may take a while to stop: nobody is to look all the time meanwhile.
    const waitMs = leftMs > 0 && this.state.active.since !== null ? leftMs : limits.hostTickMs;
    this.#cancelTime = schedule(() => void this.dispatch({ type: 'time' }).then(() => this.#watchTime()), waitMs);
  }

  async #request(threadId: string, startId: string): Promise<void> {
    if (!isWanted(this.state, startId)) return;
    const signal = this.#start(startId);
    const runner = {
      ...this.#options.requests,
      writeDelta: (frame: NewSessionFrame) => this.#write([frame], []).catch((error: unknown) => this.#lose(error)),
      onProblems: (problems: readonly ToolProblem[]) =>
        this.dispatch({ type: 'tool_problems', threadId, startId, problems }),
    };
    const command = await runRequest(runner, this.state, threadId, startId, signal);
    this.#work.delete(startId);
    await this.dispatch(command);
  }

  async #tool(threadId: string, toolUseId: string): Promise<void> {
    const call = threadOf(this.state, threadId).calls.get(toolUseId);
    if (call?.progress.type !== 'running') return;
    const result = await runTool(this.#options.tools, this.state, threadId, call, this.#start(toolUseId));
    this.#work.delete(toolUseId);
    await this.dispatch({ type: 'tool_finished', threadId, toolUseId, result });
  }

  #wait(threadId: string, at: number): void {
    const { schedule, sources } = this.#options;
    const id = waitId(threadId, at);
    if (!isWanted(this.state, id)) return;
    const cancel = schedule(
      () => {
        this.#work.delete(id);
        void this.dispatch({ type: 'retry', threadId, at });
      },
      Math.max(0, at - sources.clock.now()),
    );
    this.#start(id).addEventListener('abort', cancel);
  }

  #start(id: string): AbortSignal {
    const work = new AbortController();
    this.#work.set(id, work);
    if (!isWanted(this.state, id)) work.abort();
    return work.signal;
  }

  #stopUnwanted(): void {
    const wanted = toWanted(this.state);
    for (const [id, work] of this.#work) if (!wanted.has(id)) work.abort();
  }
}

function waitId(threadId: string, at: number): string {
  return `${threadId} ${at}`;
}

function isWanted(state: SessionState, id: string): boolean {
  return toWanted(state).has(id);
}

/** What the state still waits for: requests, tools that nobody stopped, and ends of waits. */
function toWanted(state: SessionState): ReadonlySet<string> {
  const wanted = new Set<string>();
  for (const { id: threadId, turn, calls } of state.threads.values()) {
    if (turn === null) continue;
    const { phase } = turn;
    if (phase.type === 'requesting') wanted.add(phase.startId);
    if (phase.type === 'waiting') wanted.add(waitId(threadId, phase.at));
    if (turn.stopping !== null) continue;
    for (const { id, progress } of calls.values()) if (progress.type === 'running') wanted.add(id);
  }
  return wanted;
}
