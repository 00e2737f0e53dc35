import type { AgentTree } from '@fleetloom/protocol/stream-json/tree';

/** One line that sums up a recording. */
export function summarize(name: string, tree: AgentTree): string {
  const { threads, turns, unreadableLines } = tree;
  const unreadable = unreadableLines === 0 ? '' : `, ${count(unreadableLines, 'line')} could not be read`;
  const isEmpty = threads.length === 1 && turns.length === 0 && threads[0]?.items.length === 0;
  if (isEmpty) return `${name} contains no stream-json${unreadable}.`;
  return `${name}: ${count(threads.length, 'agent')}, ${count(turns.length, 'turn')}${unreadable}.`;
}

/** `1 agent`, `2 agents`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
