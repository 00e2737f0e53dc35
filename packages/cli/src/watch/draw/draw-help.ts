import { plural } from '@fleetloom/protocol/text';
import { type Row, span } from '../../terminal/row.ts';
import { watchCommands } from '../input/command-line.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** All keys and commands, scrollable like any page. */
export function drawHelp(model: WatchModel, room: number): Row[] {
  const commands = watchCommands.map(({ name, takes, help }) => [`:${name} ${takes}`.trim(), help] as const);
  const rows: Row[] = [
    {
      left: [span('  Agents keep working after you quit; "fleetloom watch" opens this view again.', 'dim')],
      right: [],
    },
    ...KEYS.map(([key, what]) => toRow(key, 20, what)),
    EMPTY,
    ...commands.map(([key, what]) => toRow(key, 30, what)),
  ];
  const space = Math.max(1, room - 1);
  // Clamped, so that scrolling back has an effect at once.
  model.scroll = Math.max(0, Math.min(model.scroll, rows.length - space));
  const shown = rows.slice(model.scroll, model.scroll + space);
  const below = rows.length - model.scroll - shown.length;
  return [
    ...shown,
    ...(below > 0 ? [{ left: [span(`  ${plural(below, 'more line')} below`, 'attention')], right: [] }] : []),
  ];
}

function toRow(key: string, width: number, what: string): Row {
  return { left: [span(`  ${key.padEnd(width)}`, 'bold'), span(what)], right: [] };
}

const EMPTY: Row = { left: [], right: [] };

const KEYS: readonly (readonly [string, string])[] = [
  ['↑ ↓ j k PgUp PgDn', 'select a thread; scroll a page'],
  ['Enter', 'open the thread: task, thinking, tool calls, text'],
  ['→ ←', 'expand or collapse sub-threads; thinking and tool calls'],
  ['Esc', 'back; clear the filter; leave the replay'],
  ['i', 'inbox: everything pending, with its whole input'],
  ['n', 'go to the next thread that needs you'],
  ['a', 'approve the pending tool call'],
  ['d', 'deny it, with a reason for the agent'],
  ['A', 'approve a pattern, after a preview, until you quit'],
  ['r', 'answer a question, or return the result of a custom tool'],
  ['s', 'send a message; the coordinator forwards it'],
  ['x  X', 'interrupt the thread; also all threads below it'],
  ['/', 'filter threads by name, state or activity'],
  ['R  [ ]  { }', 'replay; previous, next event; previous, next turn; R: live'],
  [':', 'command line; Tab completes'],
  ['Ctrl-Z', 'suspend; the shell command fg returns'],
  ['q  Ctrl-C', 'leave'],
];
