import type { ThreadRow } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';

/** The name of a thread, with its number if several threads have the same name. */
export function threadName({ agent, ordinal }: Pick<ThreadRow, 'agent' | 'ordinal'>): string {
  return cleanLine(ordinal > 0 ? `${agent} ${ordinal}` : agent);
}
