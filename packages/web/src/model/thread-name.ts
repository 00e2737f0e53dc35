import { cleanLine } from '../text/clean-text.ts';
import type { ThreadRow } from './thread-rows.ts';

/** The name of a thread, with its number where several have it. */
export function threadName({ agent, ordinal }: Pick<ThreadRow, 'agent' | 'ordinal'>): string {
  return cleanLine(ordinal > 0 ? `${agent} ${ordinal}` : agent);
}
