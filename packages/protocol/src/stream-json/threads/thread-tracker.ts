import { defined, identifier, nonEmpty, number, record, text } from '../base/check.ts';
import type { EventSink, Loose } from './event-sink.ts';
import {
  UNRESOLVED,
  type TaskUsage,
  type ThreadFacts,
  type ThreadProgress,
  type ThreadReport,
  type ThreadStatus,
  type ThreadStatusChange,
} from '../wire/events.ts';
import { DEPTH_MAX, RUNS_PER_THREAD } from '../base/limits.ts';
import type { StreamJsonMessage } from '../wire/messages.ts';
import { shortName } from '../base/text-mark.ts';
import { type Run, type Thread, ThreadRegistry } from './threads.ts';

/**
 * The agents of a stream: which thread a line belongs to, what becomes known about it, its runs and its status.
 * Task lines report when a sub-agent starts and ends; without them, the return of its call ends it.
 */
export class ThreadTracker {
  readonly registry = new ThreadRegistry();
  readonly #sink: EventSink;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  get main(): Thread {
    return this.registry.main;
  }

  /** The thread of the line; undefined if the same line was seen before. */
  freshLine(message: StreamJsonMessage): Thread | undefined {
    const thread = this.route(message);
    thread.memory.lines++;
    const uuid = identifier(message.uuid);
    return uuid && thread.memory.seen.saw(uuid) ? undefined : thread;
  }

  /** The thread of an assistant, user or stream_event line. */
  route(message: StreamJsonMessage): Thread {
    const callId = identifier(message.parent_tool_use_id);
    const taskId = identifier(message.agent_id);
    if (!callId && !taskId) return this.main;
    // Nearly every line belongs to a known agent without new facts.
    const known = this.registry.byCall.get(callId);
    const thread = known?.parent && (!taskId || known.facts.taskId === taskId) ? known : this.child(callId, taskId);
    const agentType = nonEmpty(message.subagent_type);
    if (agentType && !thread.facts.agentType) {
      this.#learn(thread, { agentType, description: nonEmpty(message.task_description) });
    }
    return thread;
  }

  /** The thread with these ids, opened if it is new. Either id may be missing; never two threads for one pair. */
  child(callId: string | undefined, taskId: string | undefined, facts: Learnt = {}): Thread {
    const { byCall, byTask } = this.registry;
    this.#merge(byTask.get(taskId), byCall.get(callId));
    const known = byTask.get(taskId) ?? byCall.get(callId);
    const thread = known ?? this.registry.create(callId, taskId);
    // The first call that is bound stays: its id is the one on message lines.
    const news = { ...facts, taskId, toolUseId: byCall.has(callId) ? undefined : callId };
    if (known) this.#learn(thread, news);
    else this.#open(thread, news);
    this.registry.bind(thread);
    if (!thread.parent) this.#adopt(thread, this.registry.ownerOf(callId));
    return thread;
  }

  /** What is known by its task alone is the agent of these lines, which goes on under the key that it has there. */
  #merge(task: Thread | undefined, lines: Thread | undefined): void {
    if (!task || !lines || task.facts.toolUseId || lines.facts.taskId || isAncestor(task, lines)) return;
    this.#sink.emit(task, { type: 'thread_update', sameAs: lines.key });
    this.registry.merge(task, lines);
    if (!lines.parent) this.#adopt(lines, task.parent, task.depth);
    for (const child of this.registry.children(task)) this.#adopt(child, lines);
  }

  /** Called when a call was made: records its caller, the parent of the agent that the call spawns. Returns the id of the call. */
  made(callId: string | undefined, caller: Thread): string {
    if (!callId) return '';
    this.registry.owners.set(callId, caller);
    const spawned = this.registry.byCall.get(callId);
    if (spawned && !spawned.parent) this.#adopt(spawned, caller);
    return callId;
  }

  /** Called when a call returned. Ends the agent it spawned if no task line will, and reads the facts of a structured report. */
  returned(callId: string, isError: boolean, structured: unknown): void {
    const report = record(structured);
    const taskId = identifier(report?.agentId);
    const status = text(report?.status);
    const thread = taskId ? this.child(callId, taskId) : this.registry.byCall.get(callId);
    if (!thread || thread === this.main || status === 'async_launched') return;
    if (taskId && status === 'completed') this.#end(thread, thread.currentRun, 'completed', 'report');
    else if (thread.runs.length === 0) this.#end(thread, undefined, isError ? 'failed' : 'completed', 'result');
  }

  /** `system/task_*`. False if the line is not one, or about no agent of this stream (a shell task, one of another process). */
  task(message: StreamJsonMessage): boolean {
    const taskId = identifier(message.task_id);
    if (!taskId) return false;
    if (message.subtype === 'task_started') return this.#started(message, taskId);
    const thread = this.registry.byTask.get(taskId);
    if (!thread) return false;
    const run = findRun(thread, identifier(message.run_id), identifier(message.tool_use_id));
    if (message.subtype === 'task_progress') this.#progress(thread, run, message);
    else if (message.subtype === 'task_updated') this.#updated(thread, run, message);
    else if (message.subtype === 'task_notification') this.#notified(thread, run, message);
    else return false;
    return true;
  }

  #started(message: StreamJsonMessage, taskId: string): boolean {
    if (message.task_type !== undefined && message.task_type !== 'local_agent') return false;
    const callId = identifier(message.tool_use_id);
    const runId = identifier(message.run_id);
    const known = this.registry.byTask.get(taskId);
    if (runId && known?.runs.some((run) => run.runId === runId)) return true;
    // A follow-up carries the id of the message that caused it; the agent's lines keep the id of the first call.
    const again = known?.currentRun && known;
    const above = identifier(message.parent_task_id);
    const facts: Learnt = {
      parent: this.registry.ownerOf(callId) ?? (above ? this.child(undefined, above) : undefined),
      depth: number(message.spawn_depth),
      agentType: nonEmpty(message.subagent_type),
      description: nonEmpty(message.description),
      prompt: text(message.prompt),
      background: flag(message.is_backgrounded),
    };
    const thread = again ?? this.child(callId, taskId, facts);
    const run: Run = { runId, toolUseId: callId, status: 'running', reported: false };
    if (this.#sink.keepLast(thread.runs, run, RUNS_PER_THREAD, 'run')) thread.runsBefore++;
    // 2.1.50 reports its agents only at the end of the turn, long after their calls returned.
    const late = !again && thread.status !== 'running' ? (true as const) : undefined;
    if (!late) thread.status = 'running';
    this.#sink.emit(thread, {
      type: 'run_start',
      run: runNumber(thread, thread.currentRun) ?? 0,
      runId,
      toolUseId: callId,
      late,
    });
    if (again && facts.prompt) {
      thread.hasItems = true;
      this.#sink.emit(thread, { type: 'prompt', role: 'follow_up', content: facts.prompt });
    }
    return true;
  }

  #progress(thread: Thread, run: Run | undefined, message: StreamJsonMessage): void {
    this.#report(thread, run, {
      type: 'thread_progress',
      description: nonEmpty(message.description),
      toolName: nonEmpty(message.last_tool_name),
      usage: toUsage(message.usage),
    });
  }

  #updated(thread: Thread, run: Run | undefined, message: StreamJsonMessage): void {
    const patch = record(message.patch);
    this.#learn(thread, { background: flag(patch?.is_backgrounded) });
    const status = toStatus(patch?.status);
    if (status) this.#end(thread, run, status, 'task', nonEmpty(patch?.error));
  }

  #notified(thread: Thread, run: Run | undefined, message: StreamJsonMessage): void {
    const status = toStatus(message.status);
    if (status) this.#end(thread, run, status, 'task');
    if (run?.reported) return; // the program says it twice when it is terminated
    if (run) run.reported = true;
    const summary = text(message.summary);
    const usage = toUsage(message.usage);
    if (summary !== undefined || usage) this.#report(thread, run, { type: 'thread_report', summary, usage });
  }

  /** Emits a status once per run; a status of an earlier run does not change the status of the agent. */
  #end(thread: Thread, run: Run | undefined, status: ThreadStatus, source: Source, error?: string): void {
    const late = lateness(thread, run);
    if ((run ?? thread).status === status && (late || thread.status === status)) return;
    if (run) run.status = status;
    if (!late) thread.status = status;
    this.#report(thread, run, { type: 'thread_status', status, source, error });
    this.registry.ended(thread);
  }

  #report(thread: Thread, run: Run | undefined, body: Loose<ThreadProgress | ThreadStatusChange | ThreadReport>): void {
    this.#sink.emit(thread, { ...body, run: runNumber(thread, run), late: lateness(thread, run) });
  }

  #open(thread: Thread, { parent, depth, ...facts }: Learnt): void {
    thread.parent = parent ?? this.registry.ownerOf(facts.toolUseId);
    thread.depth = toDepth(depth ?? (thread.parent?.depth ?? 0) + 1);
    const news = takeNews(thread, facts);
    this.#sink.emit(thread, { type: 'thread_start', parent: thread.parent?.key ?? UNRESOLVED, ...news });
  }

  #learn(thread: Thread, { parent, depth, ...facts }: Learnt): void {
    const news = takeNews(thread, facts);
    if (Object.keys(news).length > 0) this.#sink.emit(thread, { type: 'thread_update', ...news });
    if (!thread.parent) this.#adopt(thread, parent, depth);
  }

  #adopt(thread: Thread, parent: Thread | undefined, depth?: number): void {
    if (!parent || thread === this.main || isAncestor(thread, parent)) return;
    thread.parent = parent;
    this.#setDepth(thread, toDepth(depth ?? parent.depth + 1));
    this.#sink.emit(thread, { type: 'thread_update', parent: parent.key });
  }

  #setDepth(thread: Thread, depth: number): void {
    if (thread.depth === depth) return;
    thread.depth = depth;
    for (const child of this.registry.children(thread)) {
      this.#setDepth(child, toDepth(depth + 1));
      this.#sink.emit(child, { type: 'thread_update' });
    }
  }
}

/** The facts that are new; only `background` can change. They are reported whole; long ones are not kept. */
function takeNews(thread: Thread, facts: Facts): Facts {
  const news: Record<string, unknown> = {};
  // The cast: the loop stores each fact under its own name.
  const known = thread.facts as Record<string, unknown>;
  for (const [name, fact] of Object.entries(facts)) {
    const before = known[name];
    if (fact === undefined || (before !== undefined && (name !== 'background' || before === fact))) continue;
    news[name] = fact;
    known[name] = typeof fact === 'string' ? shortName(fact) : fact;
  }
  return news;
}

/** Bounds the depth: a change is reported for every agent below, and a hostile chain would take hours. */
function toDepth(depth: number): number {
  return Math.max(1, Math.min(depth, DEPTH_MAX));
}

/** The facts of a line: undefined where the line does not have them. */
type Facts = { [Name in keyof Thread['facts']]?: ThreadFacts[Name] | undefined };
type Learnt = Facts & { parent?: Thread | undefined; depth?: number | undefined };

type Source = 'task' | 'report' | 'result';

/** The run that a task line speaks of: by its own id, else by the call that started it, else the current one. */
function findRun(thread: Thread, runId: string | undefined, callId: string | undefined): Run | undefined {
  return (
    thread.runs.find((run) => runId && run.runId === runId) ??
    thread.runs.find((run) => callId && run.toolUseId === callId) ??
    thread.currentRun
  );
}

function lateness(thread: Thread, run: Run | undefined): true | undefined {
  return run && run !== thread.currentRun ? true : undefined;
}

function runNumber(thread: Thread, run: Run | undefined): number | undefined {
  return run && thread.runsBefore + thread.runs.indexOf(run);
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function toStatus(status: unknown): ThreadStatus | undefined {
  if (status === 'killed') return 'stopped';
  return status === 'completed' || status === 'failed' || status === 'stopped' ? status : undefined;
}

function toUsage(value: unknown): TaskUsage | undefined {
  const usage = record(value);
  if (!usage) return undefined;
  return defined({
    totalTokens: number(usage.total_tokens),
    toolUses: number(usage.tool_uses),
    durationMs: number(usage.duration_ms),
  });
}

/** Whether `thread` is `of` or stands above it: a hostile stream could make an agent its own ancestor. */
function isAncestor(thread: Thread, of: Thread): boolean {
  for (let up: Thread | undefined = of; up; up = up.parent) if (up === thread) return true;
  return false;
}
