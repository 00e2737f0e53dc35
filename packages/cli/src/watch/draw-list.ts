import type { SlotContext } from '@fleetloom/protocol/fleet';
import { fitDoing, signOf, toColumn, toRails } from '../fleet/draw-threads.ts';
import type { SlotState } from '../fleet/slot-state.ts';
import type { ThreadRow } from '../fleet/thread-rows.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { formatAge } from '../terminal/format.ts';
import type { Style } from '../terminal/palette.ts';
import { type Row, type Span, span } from '../terminal/row.ts';
import { textWidth } from '../terminal/text-width.ts';
import { toSpark } from './activity.ts';
import type { Ask } from './asks.ts';
import { type Columns, toColumns } from './columns.ts';
import type { WatchDrawing } from './draw-watch.ts';
import type { WatchModel } from './watch-model.ts';

/** The threads: a line for what the columns are, then as many as fit, with the chosen one among them. */
export function drawList(
  model: WatchModel,
  rows: readonly ThreadRow[],
  asks: readonly Ask[],
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
    ...shown.map((row, index) => drawThreadRow(model, row, asks, first + index === selected, columns, drawing)),
  ];
}

/** What is out of sight is told, because nobody looks for what he does not know of. */
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
  asks: readonly Ask[],
  isSelected: boolean,
  columns: Columns,
  drawing: WatchDrawing,
): Row {
  const { glyphs, nowMs, look } = drawing;
  const state = model.stateOf(row, nowMs, asks);
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
      ...figure(toMoney(usageBelow.costUsd, usageBelow.requestsWithoutCost, glyphs.unknown), columns.cost),
      ...figure(row.slot.lastAt === null ? '' : formatAge(nowMs - row.slot.lastAt), columns.time),
    ],
    right: [],
  };
}

/** With its place in the tree, and how many are folded away below it. */
function nameOf(model: WatchModel, row: ThreadRow, { glyphs }: WatchDrawing): string {
  const rails = model.order === 'tree' ? toRails(row.branches, glyphs) : '';
  const folded = model.isFolded(row) ? ` ${glyphs.folded}${row.rowsBelow}` : '';
  return `${rails}${cleanLine(row.agent)}${folded}`;
}

/** The word of the state always, then what there is to say about it. */
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

/** What the word says need not be said again. */
function withoutWord(doing: string, word: string, isApart: boolean): string {
  if (doing === word) return '';
  if (word === 'waits' && !isApart) return doing.replace(/^waiting /, '');
  if (word === 'working' && !isApart) return '';
  if (word === 'stalled' && !isApart) return doing.replace(/^no event /, '');
  return doing.startsWith(`${word}: `) ? doing.slice(word.length + 2) : doing;
}

/** How long it has been as it is; of one that is over, how long it took. */
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

/** Without the sign, which stands above. A plus says that there is more to it, whose price is not known. */
export function toMoney(usd: number, unknownRequests: number, unknown: string): string {
  if (unknownRequests > 0 && usd === 0) return unknown;
  const digits = usd >= 1_000 ? usd.toFixed(0) : usd > 0 && usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2);
  return unknownRequests > 0 ? `${digits}+` : digits;
}
