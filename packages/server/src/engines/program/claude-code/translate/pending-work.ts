import { cutText } from '@fleetloom/protocol/fleet';
import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { type Clock, systemClock } from '../../../../base/clock.ts';
import { baseLimits } from '../../../../base/limits.ts';
import { programLimits } from '../../limits.ts';
import { MAIN, type ProgramEvent } from '../../program.ts';
import { nextCronTime } from './next-cron-time.ts';
import { number, record, text } from '../../lines/values.ts';

interface Task {
  readonly kind: 'command' | 'task';
  readonly description: string;
  readonly callId: string | undefined;
  isReported: boolean;
}

/**
 * The work of the program outside of turns, read from its lines: shell commands and other tasks that outlast the call
 * that started them, and turns that it will begin at a given time (`ScheduleWakeup`, `CronCreate`). Sub-agents are threads.
 */
export class PendingWork {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #tasks = new Map<string, Task>();
  /** The times at which one-time wake-ups fire. */
  readonly #firesAt = new Map<string, number>();
  /** Calls of the tools that schedule wake-ups, until their results come. */
  readonly #schedulers = new Map<string, { readonly name: string; readonly input: Record<string, unknown> }>();

  constructor(clock: Pick<Clock, 'now'> = systemClock) {
    this.#clock = clock;
  }

  take(line: StreamJsonMessage): ProgramEvent[] {
    if (line.type === 'system') return this.#system(line);
    if (line.type === 'assistant') this.#calls(line);
    return line.type === 'user' ? this.#results(line) : [];
  }

  #system(line: StreamJsonMessage): ProgramEvent[] {
    const { subtype } = line;
    if (subtype === 'init') return this.#fire();
    if (subtype === 'background_tasks_changed') return this.#endMissing(line['tasks']);
    const taskId = text(line['task_id']);
    if (taskId === undefined) return [];
    if (subtype === 'task_started') this.#start(taskId, line);
    else if (subtype === 'task_notification') return this.#end(taskId, line['status']);
    else if (subtype === 'task_updated') return this.#end(taskId, record(line['patch'])?.['status']);
    return [];
  }

  /** Ends wake-ups that are due when a turn begins: the program handles them in this turn or right after it. */
  #fire(): ProgramEvent[] {
    const due = [...this.#firesAt].filter(([, firesAt]) => firesAt <= this.#clock.now());
    return due.flatMap(([workId]) => this.#endWakeUp(workId, 'completed'));
  }

  #start(taskId: string, line: StreamJsonMessage): void {
    const type = text(line['task_type']) ?? 'local_agent';
    if (type === 'local_agent') return;
    const kind = type === 'local_bash' ? 'command' : 'task';
    const callId = text(line['tool_use_id']);
    const description = cutText(text(line['description']) ?? type, baseLimits.excerptCharsMax);
    this.#tasks.set(taskId, { kind, description, callId, isReported: false });
  }

  #end(taskId: string, status: unknown): ProgramEvent[] {
    const outcome = typeof status === 'string' ? outcomes[status] : undefined;
    const task = this.#tasks.get(taskId);
    if (task === undefined || outcome === undefined) return [];
    this.#tasks.delete(taskId);
    return task.isReported ? [{ type: 'work_ended', key: MAIN, workId: taskId, outcome }] : [];
  }

  /** Ends background tasks that are not in the list. The list is complete, so they have ended without a line of their own. */
  #endMissing(tasks: unknown): ProgramEvent[] {
    const listed = new Set((Array.isArray(tasks) ? tasks : []).map((task) => record(task)?.['task_id']));
    const missing = [...this.#tasks].filter(([taskId, { isReported }]) => isReported && !listed.has(taskId));
    return missing.flatMap(([taskId]) => this.#end(taskId, 'completed'));
  }

  #calls(line: StreamJsonMessage): void {
    for (const block of contentOf(line)) {
      const [id, name] = [text(block['id']), text(block['name'])];
      if (block['type'] !== 'tool_use' || id === undefined || name === undefined || !SCHEDULERS.has(name)) continue;
      this.#schedulers.set(id, { name, input: record(block['input']) ?? {} });
    }
  }

  /** Reads results: a task whose call has returned runs in the background. */
  #results(line: StreamJsonMessage): ProgramEvent[] {
    return contentOf(line).flatMap((block) => {
      const callId = text(block['tool_use_id']);
      if (block['type'] !== 'tool_result' || callId === undefined) return [];
      return [...this.#outlasting(callId), ...this.#scheduled(callId, block, record(line['tool_use_result']) ?? {})];
    });
  }

  #outlasting(callId: string): ProgramEvent[] {
    const found = [...this.#tasks].filter(([, task]) => task.callId === callId && !task.isReported);
    return found.map(([workId, task]) => {
      task.isReported = true;
      const { kind, description } = task;
      return { type: 'work_started', key: MAIN, workId, kind, description, until: null };
    });
  }

  #scheduled(callId: string, block: Record<string, unknown>, result: Record<string, unknown>): ProgramEvent[] {
    const call = this.#schedulers.get(callId);
    this.#schedulers.delete(callId);
    if (call === undefined || block['is_error'] === true) return [];
    const { name, input } = call;
    if (name === 'CronDelete') return this.#endWakeUp(text(input['id']), 'stopped');
    if (name === 'ScheduleWakeup' && result['stopped'] === true) return this.#endWakeUp(LOOP, 'stopped');
    // 2.1.197 rejects this call without an error.
    if (name === 'ScheduleWakeup' && result['scheduledFor'] === 0) return [];
    const workId = name === 'ScheduleWakeup' ? LOOP : text(result['id']);
    if (workId === undefined) return [];
    const said = text(input['reason']) ?? text(input['prompt']) ?? name;
    const description = cutText(said, baseLimits.excerptCharsMax);
    const until = this.#until(workId, input, result);
    return [{ type: 'work_started', key: MAIN, workId, kind: 'wake_up', description, until }];
  }

  #endWakeUp(workId: string | undefined, outcome: 'completed' | 'stopped'): ProgramEvent[] {
    if (workId === undefined) return [];
    this.#firesAt.delete(workId);
    return [{ type: 'work_ended', key: MAIN, workId, outcome }];
  }

  /** When the work ends at the latest. A recurring schedule, or one without a known time, counts for the days that the program keeps it. */
  #until(workId: string, input: Record<string, unknown>, result: Record<string, unknown>): number {
    const reported = number(result['scheduledFor']) ?? number(result['nextFireAt']);
    const firesAt = reported ?? nextCronTime(text(input['cron']) ?? '', this.#clock.now());
    if (firesAt === undefined || result['recurring'] === true) return this.#clock.now() + programLimits.wakeUpDaysMs;
    this.#firesAt.set(workId, firesAt);
    return firesAt + programLimits.wakeUpGraceMs;
  }
}

const SCHEDULERS: ReadonlySet<string> = new Set(['ScheduleWakeup', 'CronCreate', 'CronDelete']);

/** The id of the wake-up of `ScheduleWakeup`. Each new one replaces the one before. */
const LOOP = 'wake_up';

const outcomes: Readonly<Record<string, 'completed' | 'failed' | 'stopped'>> = {
  completed: 'completed',
  failed: 'failed',
  killed: 'stopped',
  stopped: 'stopped',
};

function contentOf(line: StreamJsonMessage): Record<string, unknown>[] {
  const content: unknown = record(line['message'])?.['content'];
  return Array.isArray(content) ? content.map(record).filter((block) => block !== undefined) : [];
}
