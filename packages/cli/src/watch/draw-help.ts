import { type Row, span } from '../terminal/row.ts';
import type { WatchDrawing } from './draw-watch.ts';

export function drawHelp(_drawing: WatchDrawing): Row[] {
  return [
    { left: [], right: [] },
    ...KEYS.map(([key, what]): Row => ({ left: [span(`  ${key.padEnd(14)}`, 'bold'), span(what)], right: [] })),
    { left: [], right: [] },
    { left: [span('  Leaving stops nobody: agents go on, and so can you with "fleetloom watch".', 'dim')], right: [] },
  ];
}

const KEYS: readonly (readonly [string, string])[] = [
  ['↑ ↓  j k', 'choose a thread; in a thread, scroll'],
  ['Enter', 'open the thread: its task, calls, text, and all of what it asks for'],
  ['Esc', 'back; take the filter away'],
  ['n', 'go to the next thread that needs you'],
  ['a', 'approve what the thread asks for'],
  ['d', 'deny it, with a message for the agent'],
  ['s', 'say something to the coordinator'],
  ['x', 'stop the thread'],
  ['/', 'show only threads with this in their name, state or doing'],
  ['Ctrl-Z', 'back to the shell for a while'],
  ['q  Ctrl-C', 'leave'],
];
