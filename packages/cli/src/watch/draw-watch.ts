import type { SessionSlots } from '@fleetloom/protocol/fleet';
import {
  ageOf,
  costOf,
  drawSummary,
  fitDoing,
  signOf,
  type ThreadDrawing,
  toColumn,
  toRails,
} from '../fleet/draw-threads.ts';
import { toSlotState } from '../fleet/slot-state.ts';
import type { ThreadRow } from '../fleet/thread-rows.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { formatDuration } from '../terminal/format.ts';
import type { Look } from '../terminal/look.ts';
import { paintRow, type Row, type Span, span } from '../terminal/row.ts';
import { toSpark } from './activity.ts';
import { drawAsk } from './draw-ask.ts';
import { drawHelp } from './draw-help.ts';
import { drawThreadPage } from './draw-thread-page.ts';
import type { Prompt, WatchModel } from './watch-model.ts';

export interface WatchDrawing extends ThreadDrawing {
  readonly rows: number;
  readonly look: Look;
}

/** The whole screen, line by line: what is known about the session, the threads or one of them, and what keys do. */
export function drawWatch(model: WatchModel, look: Look, columns: number, rows: number, nowMs: number): string[] {
  // Terminals differ in what they do in the last column.
  const width = Math.max(1, columns - 1);
  const drawing: WatchDrawing = { width, rows, look, glyphs: look.glyphs, nowMs, animationMs: nowMs };
  const room = Math.max(1, rows - 2);
  const body = drawBody(model, drawing, room).slice(0, room);
  const filled = [...body, ...Array.from({ length: room - body.length }, () => EMPTY)];
  return [drawHeader(model, drawing), ...filled, drawFooter(model, drawing)].map((row) => paintRow(row, width, look));
}

const EMPTY: Row = { left: [], right: [] };

function drawBody(model: WatchModel, drawing: WatchDrawing, room: number): Row[] {
  const shown = model.rows(drawing.nowMs);
  const selected = shown[model.selectedIndex(shown)];
  if (model.page === 'help') return drawHelp(drawing);
  if (model.page === 'thread' && selected !== undefined) return drawThreadPage(model, selected, drawing, room);
  if (shown.length === 0) return drawNothing(model);
  const [ask] = selected === undefined ? [] : model.openAsks(selected);
  const panel = ask === undefined ? [] : drawAsk(ask, drawing, Math.floor(room / 2));
  const list = drawList(model, shown, drawing, room - panel.length - 1);
  const gap = Array.from({ length: Math.max(0, room - 1 - list.length - panel.length) }, () => EMPTY);
  return [drawColumns(drawing), ...list, ...gap, ...panel];
}

function drawNothing({ link, filter }: WatchModel): Row[] {
  const said =
    filter === '' ? 'Nothing has happened in this session yet.' : `No thread has "${filter}". Esc shows all.`;
  return [EMPTY, { left: [span(link === 'loading' ? '  loading …' : `  ${cleanLine(said)}`, 'dim')], right: [] }];
}

/** As many rows as fit, with the chosen one among them. */
function drawList(model: WatchModel, rows: readonly ThreadRow[], drawing: WatchDrawing, room: number): Row[] {
  const selected = model.selectedIndex(rows);
  const first = Math.max(0, Math.min(selected - Math.floor(room / 2), rows.length - room));
  return rows
    .slice(first, first + Math.max(1, room))
    .map((row, index) => drawThreadRow(model, row, first + index === selected, drawing));
}

const AGENT_WIDTH = 20;
const STATE_WIDTH = 10;
const TIME_WIDTH = 7;
const COST_WIDTH = 9;
const SPARK_WIDTH = 12;

function drawColumns({ width }: WatchDrawing): Row {
  const left = span(`    ${'AGENT'.padEnd(agentWidth(width))} ${'STATE'.padEnd(STATE_WIDTH)} NOW`, 'dim');
  const spark = width >= WIDE ? 'LAST 60s'.padEnd(SPARK_WIDTH) : '';
  const right = `${'IN'.padStart(TIME_WIDTH)} ${spark}${'COST'.padStart(COST_WIDTH)}${'AGE'.padStart(TIME_WIDTH + 1)}`;
  return { left: [left], right: [span(right, 'dim')] };
}

const WIDE = 100;

function agentWidth(width: number): number {
  return width >= WIDE ? AGENT_WIDTH + 8 : AGENT_WIDTH;
}

function drawThreadRow(model: WatchModel, row: ThreadRow, isSelected: boolean, drawing: WatchDrawing): Row {
  const { glyphs, nowMs, width, look } = drawing;
  const state = toSlotState(row.slot, nowMs);
  const rails = toRails(row.branches, glyphs);
  const name = toColumn(cleanLine(row.agent), Math.max(1, agentWidth(width) - rails.length), glyphs.ellipsis);
  const left: Span[] = [
    span(isSelected ? `${glyphs.given} ` : '  ', 'brand'),
    span(`${signOf(state, drawing)} `, state.style),
    span(rails, 'rail'),
    span(`${name} `, isSelected ? 'bold' : 'plain'),
    span(`${toColumn(state.word, STATE_WIDTH, glyphs.ellipsis)} `, state.style),
  ];
  const spark = width >= WIDE ? toSpark(model.activity.of(row.key, nowMs), look.unicode) : '';
  const figures = `${costOf(row.usageBelow, glyphs).padStart(COST_WIDTH)}${heardOf(row, nowMs).padStart(TIME_WIDTH + 1)}`;
  const right = [
    span(`${inState(row, nowMs).padStart(TIME_WIDTH)} `, 'dim'),
    span(spark, state.style),
    span(figures, 'dim'),
  ];
  const taken = 4 + agentWidth(width) + 1 + STATE_WIDTH + 1 + TIME_WIDTH + 1 + spark.length + figures.length + 2;
  return { left: [...left, span(fitDoing(row, nowMs, width - taken), 'dim')], right };
}

/** How long it has been as it is; of one that is over, how long it took. */
function inState(row: ThreadRow, nowMs: number): string {
  const { slot } = row;
  if (slot.endedAt !== null) return ageOf(row, nowMs);
  return slot.since === null
    ? ''
    : formatDuration(Math.floor(Math.max(0, nowMs - slot.since) / 1000) * 1000).replace(/^0ms$/, '0s');
}

/** How long ago it was heard of. */
function heardOf({ slot }: ThreadRow, nowMs: number): string {
  if (slot.lastAt === null) return '';
  return formatDuration(Math.floor(Math.max(0, nowMs - slot.lastAt) / 1000) * 1000)
    .replace(/^0ms$/, '0s')
    .replace(/\.0s$/, 's');
}

function drawHeader(model: WatchModel, drawing: WatchDrawing): Row {
  const { glyphs } = drawing;
  const rows = model.rows(drawing.nowMs);
  const waiting = rows.reduce((sum, row) => sum + model.openAsks(row).length, 0);
  const need =
    waiting === 0 ? [] : [span(`${glyphs.needsYou} ${waiting} need you`, 'attention'), span(` ${glyphs.dot} `, 'dim')];
  return {
    left: [
      span(' fleetloom ', 'brand'),
      span(`${glyphs.dot} ${toShortId(model.sessionId, drawing)} ${glyphs.dot} `, 'dim'),
      // First, because this is what somebody looks for, and what is last is cut.
      ...need,
      ...drawSummary(rows, model.slots.totals.usage, drawing),
    ],
    right: drawLink(model, model.slots, drawing),
  };
}

/** Where room is scarce, the end of an id tells it from the others. */
function toShortId(id: string, { width, glyphs }: WatchDrawing): string {
  return width >= WIDE ? id : `${glyphs.ellipsis}${id.slice(-8)}`;
}

function drawLink({ link }: WatchModel, { cursor, gapCount }: SessionSlots, { glyphs }: WatchDrawing): Span[] {
  const seq = `seq ${cursor === null ? 0 : Number.parseInt(cursor, 10)}`;
  const gaps = gapCount === 0 ? '' : ` ${gapCount} gaps`;
  if (link === 'live') return [span(`${seq}${gaps} ${glyphs.done} live`, gapCount === 0 ? 'ok' : 'attention')];
  if (link === 'over') return [span(`${seq} ${glyphs.stopped} over`, 'dim')];
  return [span(`${seq} ${glyphs.retry} ${link === 'waiting' ? 'reconnecting' : 'loading'}`, 'retry')];
}

function drawFooter(model: WatchModel, { glyphs, nowMs, width }: WatchDrawing): Row {
  const { prompt, notice } = model;
  if (prompt !== undefined) return drawPrompt(prompt, width);
  if (notice !== undefined && notice.untilMs > nowMs)
    return { left: [span(` ${cleanLine(notice.text)}`, 'attention')], right: [] };
  if (model.linkReason !== '') return { left: [span(` ${cleanLine(model.linkReason)}`, 'retry')], right: [] };
  const keys = model.page === 'threads' ? KEYS : PAGE_KEYS;
  const filter = model.filter === '' ? [] : [span(`/${cleanLine(model.filter)}  `, 'attention')];
  return { left: [span(' '), ...filter, span(keys.join(` ${glyphs.dot} `), 'dim')], right: [] };
}

const KEYS = ['a approve', 'd deny', 's say', 'x stop', 'Enter open', '/ filter', '? help', 'q quit'];
const PAGE_KEYS = ['Esc back', 'a approve', 'd deny', 's say', 'x stop', '? help', 'q quit'];

/** The end of what is typed is what somebody looks at. */
function drawPrompt(prompt: Prompt, width: number): Row {
  if (prompt.type === 'stop') {
    return {
      left: [span(` Stop ${cleanLine(prompt.row.agent)}? `, 'attention'), span('y yes, any other key no', 'dim')],
      right: [],
    };
  }
  const label = { deny: 'Deny, and say why', send: 'Say to the coordinator', filter: 'Show only' }[prompt.type];
  const typed = Array.from(cleanLine(`${prompt.text}.`).slice(0, -1));
  const room = Math.max(8, width - label.length - 6);
  const end = typed.length > room ? typed.slice(-room).join('') : typed.join('');
  return { left: [span(` ${label}: `, 'attention'), span(end), span('_', 'brand')], right: [] };
}
