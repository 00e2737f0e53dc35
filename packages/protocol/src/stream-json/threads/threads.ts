import type { ThreadFacts, ThreadStatus } from '../wire/events.ts';
import { CALL_OWNERS_MAX, ENDED_THREADS_MAX, THREADS_MAX } from '../base/limits.ts';
import { MessageMemory } from '../memory/message-memory.ts';
import { keepLast, RecentMap } from '../base/recent-map.ts';

/** One start of an agent: the first, or a follow-up. */
export interface Run {
  runId: string | undefined;
  toolUseId: string | undefined;
  status: ThreadStatus;
  /** Whether the report of the run was emitted. */
  reported: boolean;
}

/** One agent: the main one or a sub-agent. */
export class Thread {
  declare readonly key: string;
  declare readonly streamId: number;
  /** Undefined for the main agent, and for a sub-agent whose spawning call has not been seen. */
  parent: Thread | undefined;
  depth = 0;
  /** The known facts. `toolUseId`: the id on its message lines, the id of the call that spawned the agent. */
  facts: Omit<ThreadFacts, 'parent'> = {};
  status: ThreadStatus = 'running';
  /** The last runs, and how many there were before them. */
  runs: Run[] = [];
  runsBefore = 0;
  /** Whether the thread has content, so that a further input is not its prompt. */
  hasItems = false;
  memory = new MessageMemory();
  /** Set if another thread turned out to be the same agent. */
  sameAs: Thread | undefined;

  constructor(key: string, streamId: number) {
    this.key = key;
    this.streamId = streamId;
  }

  /** The thread itself, or the one that it turned out to be. */
  get self(): Thread {
    return this.sameAs ?? this;
  }

  get currentRun(): Run | undefined {
    return this.runs.at(-1);
  }

  /** Drops what is only needed while lines of it may come: not if it was started again since it ended. */
  release(): void {
    if (this.status === 'running') return;
    const { lines, anonymousBlocks } = this.memory;
    this.memory = Object.assign(new MessageMemory(), { lines, anonymousBlocks });
  }
}

/**
 * The known threads. Identity is by explicit ids: the id of the spawning call is on message lines, the task id on task lines and
 * permission requests, and either may come first.
 */
export class ThreadRegistry {
  readonly main = new Thread('main', 0);
  /** Every known thread, in order of first sight. */
  readonly all = new Map<string, Thread>([['main', this.main]]);
  /** The threads by the id of their spawning call; there is none for undefined. */
  readonly byCall = new Map<string | undefined, Thread>();
  readonly byTask = new Map<string | undefined, Thread>();
  /** The thread that made each call. */
  readonly owners = new RecentMap<string, Thread>(CALL_OWNERS_MAX);
  #ended: Thread[] = [];
  nextStreamId = 1;

  ownerOf(callId: string | undefined): Thread | undefined {
    return this.owners.get(callId)?.self;
  }

  create(callId: string | undefined, taskId: string | undefined): Thread {
    const key = taskId ?? callId ?? '';
    // A key can be taken when an id of the wire is called `main`, or names both a call and a task.
    const thread = new Thread(this.all.has(key) ? `${key}#${this.nextStreamId}` : key, this.nextStreamId++);
    this.all.set(thread.key, thread);
    this.#limitThreads();
    return thread;
  }

  /** Binds the ids of a thread that are not yet bound to one. */
  bind(thread: Thread): void {
    const { toolUseId, taskId } = thread.facts;
    if (toolUseId && !this.byCall.has(toolUseId)) this.byCall.set(toolUseId, thread);
    if (taskId && !this.byTask.has(taskId)) this.byTask.set(taskId, thread);
  }

  /** Merges the facts that were reported about `from` under its task id into `to`. */
  merge(from: Thread, to: Thread): void {
    const { taskId, ...facts } = from.facts;
    from.sameAs = to;
    this.all.delete(from.key);
    this.byTask.set(taskId, to);
    to.facts = { ...facts, ...to.facts };
    to.runs = from.runs;
    to.runsBefore = from.runsBefore;
    if (to.status === 'running') to.status = from.status;
  }

  children(parent: Thread): Thread[] {
    return [...this.all.values()].filter((thread) => thread.parent === parent);
  }

  /** A thread has ended. Its memory is kept for late lines and follow-ups until enough others have ended after it. */
  ended(thread: Thread): void {
    this.#ended = this.#ended.filter((other) => other !== thread);
    keepLast(this.#ended, thread, ENDED_THREADS_MAX)?.release();
  }

  /** Restores a thread of a snapshot. */
  restore(thread: Thread): void {
    this.all.set(thread.key, thread);
    this.bind(thread);
  }

  /** Bounds the memory: the oldest agent is forgotten, which has nearly always ended long ago. */
  #limitThreads(): void {
    const [, oldest] = this.all.values();
    if (this.all.size <= THREADS_MAX || !oldest) return;
    this.all.delete(oldest.key);
    this.byCall.delete(oldest.facts.toolUseId);
    this.byTask.delete(oldest.facts.taskId);
  }
}
