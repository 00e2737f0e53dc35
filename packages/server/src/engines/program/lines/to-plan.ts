import { cutText, type PlanTask } from '@fleetloom/protocol/fleet';
import { baseLimits } from '../../../base/limits.ts';
import { records, text } from './values.ts';

/** The tasks of a plan. `textField` is the program's name for the text of a task. */
export function toPlan(tasks: unknown, textField: string): readonly PlanTask[] {
  const items = records(tasks).flatMap((task): PlanTask[] => {
    const said = text(task[textField]);
    const status = statuses[text(task['status']) ?? ''] ?? 'pending';
    return said === undefined ? [] : [{ text: cutText(said, baseLimits.planTaskCharsMax), status }];
  });
  return items.slice(0, baseLimits.planTasksMax);
}

const statuses: { readonly [name: string]: string | undefined } = {
  inProgress: 'in_progress',
  in_progress: 'in_progress',
  completed: 'completed',
  cancelled: 'cancelled',
};
