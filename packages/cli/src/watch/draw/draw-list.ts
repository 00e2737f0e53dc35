import { formatUsageCost, type SlotContext, type ThreadRow } from '@fleetloom/protocol/fleet';
import { cleanLine, formatAge } from '@fleetloom/protocol/text';
import { fitDoing, signOf, toColumn, toRails } from '../../fleet/draw-threads.ts';
import type { SlotState } from '../../fleet/slot-state.ts';
import type { Style } from '../../terminal/palette.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { textWidth } from '../../terminal/text-width.ts';
import { toSpark } from '../state/activity.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import { type Columns, toColumns } from './columns.ts';
import type { WatchDrawing } from './watch-drawing.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** The list: a header line, then as many threads as fit, including the selected one. */
export function drawList(
  model: WatchModel,
  rows: readonly ThreadRow[],
  pendingCalls: readonly PendingCall[],
  drawing: WatchDrawing,
  room: number,
): Row[] {
  const columns = toColumns(
    drawing.width,
    rows.reduce((most, row) => Math.max(most, textWidth(nameOf(model, row, drawing))), 0),
  );
  const selected = model.selectedIndex(rows);
  const space = Math.max(1, room - 1);
  const first = Math.max(0, Math.min(selected - Math.floor(space / 2), rows.length - space));
  const shown = rows.slice(first, first + space);
  return [
    drawTitles(columns, drawing, { above: first, below: rows.length - first - shown.length }),
    ...shown.map((row, index) => drawThreadRow(model, row, pendingCalls, first + index === selected, columns, drawing)),
  ];
}

/** Counts the threads above and below the visible part. */
function drawTitles(columns: Columns, { look }: WatchDrawing, hidden: { above: number; below: number }): Row {
  const more = [
    ...(hidden.above > 0 ? [`${look.unicode ? '↑' : '^'}${hidden.above}`] : []),
    ...(hidden.below > 0 ? [`${look.unicode ? '↓' : 'v'}${hidden.below}`] : []),
  ].join(' ');
  const agent = more === '' ? 'AGENT' : `AGENT ${more}`;
  const left = [
    ` ${'S'.padEnd(columns.sign)}${agent.padEnd(columns.agent)} `,
    columns.state > 0 ? `${'STATE'.padEnd(columns.state)} ` : '',
    'NOW'.padEnd(columns.now),
  ].join('');
  const right = [
    ` ${'IN'.padStart(columns.time)}`,
    columns.cells > 0 ? ` ${'LAST 60s'.padEnd(columns.cells)}` : '',
    columns.context > 0 ? ` ${'CTX'.padStart(columns.context)}` : '',
    columns.cost > 0 ? ` ${(look.unicode ? '$Σ' : '$SUM').padStart(columns.cost)}` : '',
    ` ${'AGE'.padStart(columns.time)}`,
  ].join('');
  return { left: [span(`${left}${right}`, 'dim')], right: [] };
}

function drawThreadRow(
  model: WatchModel,
  row: ThreadRow,
  pendingCalls: readonly PendingCall[],
  isSelected: boolean,
  columns: Columns,
  drawing: WatchDrawing,
): Row {
  const { glyphs, nowMs, look } = drawing;
  const state = model.stateOf(row, nowMs, pendingCalls);
  const name = nameOf(model, row, drawing);
  const rails = model.order === 'tree' ? toRails(row.branches, glyphs) : '';
  const { usageBelow } = row;
  const figure = (text: string, width: number, style: Style = 'dim') =>
    width > 0 ? [span(` ${text.padStart(width)}`, style)] : [];
  const cells = columns.cells > 0 ? toSpark(model.scene.activity.of(row.key, nowMs, columns.cells), look.unicode) : '';
  return {
    left: [
      span(isSelected ? glyphs.given : ' ', 'brand'),
      span(toColumn(signOf(state, drawing), columns.sign, ''), state.style),
      span(rails, 'rail'),
      span(
        `${toColumn(name.slice(rails.length), columns.agent - rails.length, glyphs.ellipsis)} `,
        isSelected ? 'bold' : 'plain',
      ),
      ...drawNow(row, state, columns, drawing),
      ...figure(inState(row, nowMs), columns.time),
      ...(columns.cells > 0 ? [span(` ${cells}`, state.style)] : []),
      ...figure(toPercent(row.context), columns.context, contextStyle(row.context)),
      ...figure(formatUsageCost(usageBelow, glyphs.unknown).replace('$', ''), columns.cost),
      ...figure(row.slot.lastAt === null ? '' : formatAge(nowMs - row.slot.lastAt), columns.time),
    ],
    right: [],
  };
}

/** The name with its indentation, and the number of collapsed threads below. */
function nameOf(model: WatchModel, row: ThreadRow, { glyphs }: WatchDrawing): string {
  const rails = model.order === 'tree' ? toRails(row.branches, glyphs) : '';
  const folded = model.isFolded(row) ? ` ${glyphs.folded}${row.rowsBelow}` : '';
  const ordinal = row.ordinal > 0 ? ` ${row.ordinal}` : '';
  return `${rails}${cleanLine(row.agent)}${ordinal}${folded}`;
}

/** The state as a word, then its details. */
function drawNow(row: ThreadRow, state: SlotState, columns: Columns, drawing: WatchDrawing): Span[] {
  const { glyphs } = drawing;
  const word = columns.state > 0 ? [span(`${toColumn(state.word, columns.state, glyphs.ellipsis)} `, state.style)] : [];
  const before = columns.state > 0 ? '' : `${state.word} `;
  const room = columns.now - textWidth(before);
  const doing = withoutWord(fitDoing(row, drawing, Math.max(0, room)), state.word, columns.state > 0);
  const lead = before.slice(0, columns.now);
  return [
    ...word,
    span(lead, state.style),
    span(toColumn(doing, Math.max(0, columns.now - lead.length), glyphs.ellipsis), 'dim'),
  ];
}

/** Removes from the details what the state already expresses. */
function withoutWord(doing: string, word: string, isApart: boolean): string {
  if (doing === word) return '';
  if (word === 'waits' && !isApart) return doing.replace(/^waiting /, '');
  if (word === 'working' && !isApart) return '';
  if (word === 'stalled' && !isApart) return doing.replace(/^no event for /, '');
  return doing.startsWith(`${word}: `) ? doing.slice(word.length + 2) : doing;
}

/** Time in the current state; for an ended thread, its duration. */
function inState({ slot }: ThreadRow, nowMs: number): string {
  const { since, startedAt, endedAt } = slot;
  if (endedAt !== null) return startedAt === null ? '' : formatAge(endedAt - startedAt);
  return since === null ? '' : formatAge(nowMs - since);
}

function toPercent(context: SlotContext | null): string {
  return context === null || context.window <= 0
    ? ''
    : `${Math.min(999, Math.round((100 * context.tokens) / context.window))}%`;
}

function contextStyle(context: SlotContext | null): Style {
  const used = context === null ? 0 : context.tokens / context.window;
  return used >= 0.95 ? 'failed' : used >= 0.8 ? 'attention' : 'dim';
}
