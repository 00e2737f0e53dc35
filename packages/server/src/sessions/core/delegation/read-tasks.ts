import { isObject, type Json } from '../../../base/json/json.ts';
import { sessionLimits } from '../limits.ts';

/** One task of a `delegate` call. */
export interface Task {
  readonly agent: string;
  readonly message: string;
  /** Where its thread works; undefined: as the roster says. */
  readonly isolation?: 'worktree' | 'shared' | undefined;
}

/** The tasks of a `delegate` call; an error message if they are invalid. */
export function readTasks(input: Json): readonly Task[] | string {
  const tasks = isObject(input) ? input['tasks'] : undefined;
  if (!Array.isArray(tasks) || tasks.length === 0) return 'tasks must be a list of one or more {agent, message}';
  if (tasks.length > sessionLimits.delegateTasksMax) {
    return `${tasks.length} tasks were given and ${sessionLimits.delegateTasksMax} are allowed at once: split them`;
  }
  const read = tasks.map(readTask);
  const bad = read.indexOf(undefined);
  // None of them is undefined then.
  if (bad < 0) return read as Task[];
  return `tasks[${bad}] must have the texts agent and message, and isolation can be "worktree" or "shared"`;
}

function readTask(task: Json): Task | undefined {
  if (!isObject(task)) return undefined;
  const { agent, message, isolation } = task;
  const isText = typeof agent === 'string' && typeof message === 'string' && message.trim() !== '';
  if (!isText) return undefined;
  if (isolation === undefined || isolation === null) return { agent, message };
  return isolation === 'worktree' || isolation === 'shared' ? { agent, message, isolation } : undefined;
}
