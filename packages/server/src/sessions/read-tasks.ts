import type { Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { isObject } from './is-object.ts';

export interface Task {
  readonly agent: string;
  readonly message: string;
}

/** The tasks of a `delegate` call; a sentence if they cannot be read. */
export function readTasks(input: Json): readonly Task[] | string {
  const tasks = isObject(input) ? input['tasks'] : undefined;
  if (!Array.isArray(tasks) || tasks.length === 0) return 'tasks must be a list of one or more {agent, message}';
  if (tasks.length > limits.delegateTasksMax) {
    return `${tasks.length} tasks were given and ${limits.delegateTasksMax} are allowed at once: split them`;
  }
  const read = tasks.map(readTask);
  const bad = read.indexOf(undefined);
  // None of them is undefined then.
  return bad < 0 ? (read as Task[]) : `tasks[${bad}] must have the texts agent and message`;
}

function readTask(task: Json): Task | undefined {
  if (!isObject(task)) return undefined;
  const { agent, message } = task;
  return typeof agent === 'string' && typeof message === 'string' && message.trim() !== ''
    ? { agent, message }
    : undefined;
}
