import { cleanLine } from '../terminal/clean-text.ts';
import { formatPlural } from '../terminal/format.ts';
import type { Style } from '../terminal/palette.ts';
import { type Row, type Span, span } from '../terminal/row.ts';
import { textWidth, wrapText } from '../terminal/text-width.ts';
import type { Ask } from './asks.ts';
import { suggestCommands } from './command-line.ts';
import { showLineEnds } from './draw-rule.ts';
import type { WatchDrawing } from './draw-watch.ts';
import type { Prompt } from './prompt.ts';
import { toMessage } from './type-into.ts';
import type { WatchModel } from './watch-model.ts';

/** The last lines: what is typed, what has just happened, or what keys do here. */
export function drawFooter(model: WatchModel, asks: readonly Ask[], drawing: WatchDrawing): Row[] {
  const { prompt, notice, replay } = model;
  if (prompt !== undefined) return [drawPrompt(prompt, drawing)];
  if (notice !== undefined && notice.untilMs > drawing.clockMs) return drawNotice(notice.text, 'attention', drawing);
  if (model.linkReason !== '' && replay === undefined) return drawNotice(model.linkReason, 'retry', drawing);
  const filter = model.filter === '' ? [] : [span(`/${cleanLine(model.filter)}  `, 'attention')];
  const rows = model.rows(drawing.clockMs);
  const key = rows[model.selectedIndex(rows)]?.key;
  const ask = model.page === 'inbox' ? asks[model.askIndex(asks)] : asks.find((each) => each.key === key);
  const keys = replay === undefined ? KEYS[model.page](ask, asks.length) : REPLAY_KEYS;
  return [{ left: [span(' '), ...filter, ...fitKeys(keys, drawing.width - 1)], right: [] }];
}

/** On as many lines as it takes, up to a few: what went wrong is of no use by half. */
function drawNotice(text: string, style: Style, { width, rows, glyphs }: WatchDrawing): Row[] {
  const most = Math.max(1, Math.min(NOTICE_ROWS, rows - 3));
  const lines = wrapText(cleanLine(text), width - 2, most + 1);
  return lines.slice(0, most).map((line, index): Row => {
    const isCut = index === most - 1 && lines.length > most;
    return { left: [span(isCut ? ` ${line.slice(0, -1)}${glyphs.ellipsis}` : ` ${line}`, style)], right: [] };
  });
}

const NOTICE_ROWS = 4;

const COMMON = ['? help', 'q quit'];
const KEYS: Record<WatchModel['page'], (ask: Ask | undefined, count: number) => readonly string[]> = {
  threads: (ask, count) => [
    ...answersTo(ask),
    'Enter open',
    'i inbox',
    ...(count > 0 && ask === undefined ? ['n next'] : []),
    's steer',
    'x stop',
    '/ filter',
    'R replay',
    ': cmd',
  ],
  thread: (ask) => ['Esc back', ...answersTo(ask), '→ ← fold', 's steer', 'x stop', 'i inbox', 'R replay'],
  inbox: (ask) => [
    'Esc back',
    ...answersTo(ask),
    ...(ask?.type === 'approval' ? ['A pattern'] : []),
    'x stop',
    'Enter thread',
    'PgDn more',
    's steer',
  ],
  help: () => ['Esc back'],
};

function answersTo(ask: Ask | undefined): readonly string[] {
  if (ask === undefined) return [];
  return ask.type === 'approval' ? ['a approve', 'd deny'] : ['r answer'];
}

const REPLAY_KEYS = ['[ ] event', '{ } turn', 'Enter open', 'Esc back', 'R live'];

/** As many as fit; how to get help and how to leave always stand at the end. */
function fitKeys(keys: readonly string[], width: number): Span[] {
  const tail = COMMON.join('  ');
  const shown: string[] = [];
  let room = width - textWidth(tail);
  for (const key of keys) {
    room -= textWidth(key) + 2;
    if (room >= 0) shown.push(key);
  }
  return [...shown, ...COMMON].flatMap((key, index) => {
    const [name = '', ...what] = key.split(/ (?=[a-z]+$)/);
    return [span(`${index === 0 ? '' : '  '}${name}`, 'brand'), span(` ${what.join(' ')}`, 'dim')];
  });
}

/** The end of what is typed is what somebody looks at. */
function drawPrompt(prompt: Prompt, { width }: WatchDrawing): Row {
  if (prompt.type === 'stop') {
    const [first, ...below] = prompt.rows;
    const more = below.length === 0 ? '' : ` and ${formatPlural(below.length, 'thread')} below`;
    const who = cleanLine(first?.agent ?? '');
    return { left: [span(` Stop ${who}${more}? `, 'attention'), span('y yes, any other key no', 'dim')], right: [] };
  }
  const [label, hint] = describePrompt(prompt);
  const typed = Array.from(cleanLine(`${showLineEnds(prompt.text)}.`).slice(0, -1));
  const room = Math.max(8, width - textWidth(label) - 6);
  const end = typed.length > room ? typed.slice(-room).join('') : typed.join('');
  // What may follow stands behind it, as far as there is room.
  return { left: [span(` ${label}`, 'attention'), span(end), span('_', 'brand'), span(`  ${hint}`, 'dim')], right: [] };
}

/** What it is for, and what may follow. */
function describePrompt(prompt: Exclude<Prompt, { type: 'stop' }>): [label: string, hint: string] {
  switch (prompt.type) {
    case 'deny':
      return ['Deny, and say why: ', ''];
    case 'answer':
      return [`Result of ${cleanLine(prompt.ask.tool)}: `, ''];
    case 'rule':
      return ['Pattern: ', ''];
    case 'send':
      return [
        prompt.row === undefined
          ? 'Say to the coordinator: '
          : `Say to the coordinator: ${cleanLine(toMessage(prompt.row, ''))} `,
        '',
      ];
    case 'filter':
      return ['Show only: ', ''];
    case 'command':
      return [':', suggestCommands(prompt.text)];
  }
}
