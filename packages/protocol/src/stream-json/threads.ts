import { defined } from './check.ts';
import { UNRESOLVED, type ThreadFacts, type ThreadStatus } from './events.ts';
import { CALL_OWNERS_MAX, ENDED_THREADS_MAX, THREADS_MAX } from './limits.ts';
import { MessageMemory } from './message-memory.ts';
import { RecentMap } from './recent-map.ts';

/** One start of an agent: the first, or a follow-up. */
export interface Run {
  runId: string | undefined;
  toolUseId: string | undefined;
  status: ThreadStatus;
  /** Its report has been said. */
  reported: boolean;
}

/** One agent: the main one or a sub-agent. */
export class Thread {
  readonly key: string;
  readonly streamId: number;
  /** Undefined for the main agent, and for a sub-agent whose spawning call has not been seen. */
  parent: Thread | undefined;
  depth: number;
  taskId: string | undefined;
  /** The id on its message lines: that of the call which spawned it. */
  toolUseId: string | undefined;
  agentType: string | undefined;
  description: string | undefined;
  prompt: string | undefined;
  background: boolean | undefined;
  status: ThreadStatus = 'running';
  runs: Run[] = [];
  /** Something was said in it, so that a further text given to it is no longer its prompt. */
  hasItems = false;
  readonly memory = new MessageMemory();

  constructor(key: string, streamId: number, depth: number) {
    this.key = key;
    this.streamId = streamId;
    this.depth = depth;
  }

  get parentKey(): string {
    return this.parent?.key ?? UNRESOLVED;
  }

  get currentRun(): Run | undefined {
    return this.runs[this.runs.length - 1];
  }

  /** Drops what is only needed while lines of it may come. */
  release(): void {
    this.memory.release();
    this.prompt = undefined;
    this.runs = this.runs.slice(-1);
  }

  /** What is known of it, as `thread_start` says it. */
  facts(): ThreadFacts {
    const { taskId, toolUseId, agentType, description, prompt, background } = this;
    return defined({ parent: this.parentKey, taskId, toolUseId, agentType, description, prompt, background });
  }
}

/**
 * Who is who. Identity is by explicit ids: the id of the spawning call is on message lines, the task id on task lines and
 * permission requests, and either may come first.
 */
export class ThreadRegistry {
  readonly main = new Thread('main', 0, 0);
  /** Every known thread, in order of first sight. */
  readonly all = new Map<string, Thread>([['main', this.main]]);
  readonly #byCall = new Map<string, Thread>();
  readonly #byTask = new Map<string, Thread>();
  /** Who made which call. */
  readonly owners = new RecentMap<string, Thread>(CALL_OWNERS_MAX);
  readonly #ended: Thread[] = [];
  nextStreamId = 1;

  find(callId: string | undefined, taskId: string | undefined): Thread | undefined {
    return (taskId && this.#byTask.get(taskId)) || (callId && this.#byCall.get(callId)) || undefined;
  }

  byTask(taskId: string): Thread | undefined {
    return this.#byTask.get(taskId);
  }

  byCall(callId: string): Thread | undefined {
    return this.#byCall.get(callId);
  }

  create(callId: string | undefined, taskId: string | undefined): Thread {
    const key = taskId ?? callId ?? '';
    // A key can be taken when an id of the wire is called `main`, or names both a call and a task.
    const thread = new Thread(this.all.has(key) ? `${key}#${this.nextStreamId}` : key, this.nextStreamId++, 1);
    this.all.set(thread.key, thread);
    this.#limitThreads();
    return thread;
  }

  /** Binds an id that is not yet bound. The first call that is bound stays: its id is the one on message lines. */
  bind(thread: Thread, callId: string | undefined, taskId: string | undefined): boolean {
    let bound = false;
    if (callId && !this.#byCall.has(callId) && thread.toolUseId === undefined) {
      this.#byCall.set(callId, thread);
      thread.toolUseId = callId;
      bound = true;
    }
    if (taskId && !this.#byTask.has(taskId) && thread.taskId === undefined) {
      this.#byTask.set(taskId, thread);
      thread.taskId = taskId;
      bound = true;
    }
    return bound;
  }

  children(parent: Thread): Thread[] {
    return [...this.all.values()].filter((thread) => thread.parent === parent);
  }

  /** A thread has ended. Its memory is kept for late lines and follow-ups until enough others have ended after it. */
  ended(thread: Thread): void {
    const at = this.#ended.indexOf(thread);
    if (at !== -1) this.#ended.splice(at, 1);
    this.#ended.push(thread);
    if (this.#ended.length > ENDED_THREADS_MAX) this.#ended.shift()?.release();
  }

  /** Puts a thread of a snapshot back. */
  restore(thread: Thread): void {
    this.all.set(thread.key, thread);
    if (thread.toolUseId !== undefined) this.#byCall.set(thread.toolUseId, thread);
    if (thread.taskId !== undefined) this.#byTask.set(thread.taskId, thread);
  }

  #limitThreads(): void {
    if (this.all.size <= THREADS_MAX) return;
    for (const thread of this.all.values()) {
      if (thread === this.main || thread.status === 'running') continue;
      this.#forget(thread);
      return;
    }
    // All of them run: forget the oldest all the same, since memory must stay bounded.
    for (const thread of this.all.values()) {
      if (thread === this.main) continue;
      this.#forget(thread);
      return;
    }
  }

  #forget(thread: Thread): void {
    this.all.delete(thread.key);
    if (thread.toolUseId !== undefined) this.#byCall.delete(thread.toolUseId);
    if (thread.taskId !== undefined) this.#byTask.delete(thread.taskId);
  }
}
