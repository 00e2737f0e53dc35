import { cleanLine, plural } from '@fleetloom/protocol/text';
import type { Style } from '../../terminal/palette.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { textWidth, wrapText } from '../../terminal/text-width.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import { suggestCommands } from '../input/command-line.ts';
import { showLineEnds } from './draw-rule.ts';
import type { WatchDrawing } from './watch-drawing.ts';
import type { Prompt } from '../state/prompt.ts';
import { toMessage } from '../input/type-into.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** The footer: the prompt, a notice, or the available keys. */
export function drawFooter(model: WatchModel, pendingCalls: readonly PendingCall[], drawing: WatchDrawing): Row[] {
  const { prompt, notice, replay } = model;
  if (prompt !== undefined) return [drawPrompt(prompt, drawing)];
  if (notice !== undefined && notice.untilMs > drawing.clockMs) return drawNotice(notice.text, 'attention', drawing);
  if (model.linkReason !== '' && replay === undefined) return drawNotice(model.linkReason, 'retry', drawing);
  const filter = model.filter === '' ? [] : [span(`/${cleanLine(model.filter)}  `, 'attention')];
  const rows = model.rows(drawing.clockMs);
  const key = rows[model.selectedIndex(rows)]?.key;
  const pendingCall =
    model.page === 'inbox'
      ? pendingCalls[model.pendingIndex(pendingCalls)]
      : pendingCalls.find((each) => each.key === key);
  const keys = replay === undefined ? KEYS[model.page](pendingCall, pendingCalls.length) : REPLAY_KEYS;
  return [{ left: [span(' '), ...filter, ...fitKeys(keys, drawing.width - 1)], right: [] }];
}

/** Wrapped to a few lines, so that an error message is not cut. */
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
const KEYS: Record<WatchModel['page'], (pendingCall: PendingCall | undefined, count: number) => readonly string[]> = {
  threads: (pendingCall, count) => [
    ...answersTo(pendingCall),
    'Enter open',
    'i inbox',
    ...(count > 0 && pendingCall === undefined ? ['n next'] : []),
    's send',
    'x interrupt',
    '/ filter',
    'R replay',
    ': cmd',
  ],
  thread: (pendingCall) => [
    'Esc back',
    ...answersTo(pendingCall),
    '→ ← fold',
    's send',
    'x interrupt',
    'i inbox',
    'R replay',
  ],
  inbox: (pendingCall) => [
    'Esc back',
    ...answersTo(pendingCall),
    ...(pendingCall?.type === 'approval' ? ['A pattern'] : []),
    'x interrupt',
    'Enter thread',
    'PgDn more',
    's send',
  ],
  help: () => ['Esc back'],
};

function answersTo(pendingCall: PendingCall | undefined): readonly string[] {
  if (pendingCall === undefined) return [];
  return pendingCall.type === 'approval' ? ['a approve', 'd deny'] : ['r answer'];
}

const REPLAY_KEYS = ['[ ] event', '{ } turn', 'Enter open', 'Esc back', 'R live'];

/** As many keys as fit; help and quit are always shown. */
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

/** Shows the end of a long input, where the cursor is. */
function drawPrompt(prompt: Prompt, { width }: WatchDrawing): Row {
  if (prompt.type === 'stop') {
    const [first, ...below] = prompt.rows;
    const more = below.length === 0 ? '' : ` and ${plural(below.length, 'thread')} below`;
    const who = cleanLine(first?.agent ?? '');
    return { left: [span(` Stop ${who}${more}? `, 'attention'), span('y yes, any other key no', 'dim')], right: [] };
  }
  const [label, hint] = describePrompt(prompt);
  const typed = Array.from(cleanLine(`${showLineEnds(prompt.text)}.`).slice(0, -1));
  const room = Math.max(8, width - textWidth(label) - 6);
  const end = typed.length > room ? typed.slice(-room).join('') : typed.join('');
  // Completions are shown behind the input if there is room.
  return { left: [span(` ${label}`, 'attention'), span(end), span('_', 'brand'), span(`  ${hint}`, 'dim')], right: [] };
}

/** The label of the prompt, and its completions. */
function describePrompt(prompt: Exclude<Prompt, { type: 'stop' }>): [label: string, hint: string] {
  switch (prompt.type) {
    case 'deny':
      return ['Deny. Reason (sent to the agent): ', ''];
    case 'answer':
      return [`Result of ${cleanLine(prompt.pendingCall.tool)}: `, ''];
    case 'rule':
      return ['Pattern: ', ''];
    case 'send':
      return [
        prompt.row === undefined
          ? 'Message to the coordinator: '
          : `Message to the coordinator: ${cleanLine(toMessage(prompt.row, ''))} `,
        '',
      ];
    case 'filter':
      return ['Filter: ', ''];
    case 'command':
      return [':', suggestCommands(prompt.text)];
  }
}
