import { type Row, span } from '../terminal/row.ts';
import { watchCommands } from './command-line.ts';
import type { WatchModel } from './watch-model.ts';

/** All keys and commands; where they do not fit, it can be scrolled like any page. */
export function drawHelp(model: WatchModel, room: number): Row[] {
  const commands = watchCommands.map(({ name, takes, help }) => [`:${name} ${takes}`.trim(), help] as const);
  const rows: Row[] = [
    { left: [span('  Leaving stops nobody: agents go on, and so can you with "fleetloom watch".', 'dim')], right: [] },
    ...KEYS.map(([key, what]) => toRow(key, 20, what)),
    EMPTY,
    ...commands.map(([key, what]) => toRow(key, 30, what)),
  ];
  const space = Math.max(1, room - 1);
  // Held within what there is, so that scrolling back begins to show at once.
  model.scroll = Math.max(0, Math.min(model.scroll, rows.length - space));
  const shown = rows.slice(model.scroll, model.scroll + space);
  const below = rows.length - model.scroll - shown.length;
  return [
    ...shown,
    ...(below > 0 ? [{ left: [span(`  ${below} more lines, down shows them`, 'attention')], right: [] }] : []),
  ];
}

function toRow(key: string, width: number, what: string): Row {
  return { left: [span(`  ${key.padEnd(width)}`, 'bold'), span(what)], right: [] };
}

const EMPTY: Row = { left: [], right: [] };

const KEYS: readonly (readonly [string, string])[] = [
  ['↑ ↓ j k PgUp PgDn', 'choose a thread; in a page, scroll'],
  ['Enter', 'open the thread: its task, thoughts, calls and text'],
  ['→ ←', 'unfold and fold: delegates; thoughts and calls'],
  ['Esc', 'back; take the filter away; leave the replay'],
  ['i', 'inbox: all that waits for you, with the whole input'],
  ['n', 'go to the next thread that needs you'],
  ['a', 'approve what the thread asks for, this once'],
  ['d', 'deny it, with a message for the agent'],
  ['A', 'approve a pattern, shown first, until you leave'],
  ['r', 'give the result that a tool of yours is waited for'],
  ['s', 'say something; the coordinator passes it on'],
  ['x  X', 'stop the thread; stop it with all below it'],
  ['/', 'show only threads with this in name, state or doing'],
  ['R  [ ]  { }', 'replay; an event back, on; a turn back, on; R is live'],
  [':', 'a command; Tab completes it'],
  ['Ctrl-Z', 'back to the shell for a while'],
  ['q  Ctrl-C', 'leave'],
];
