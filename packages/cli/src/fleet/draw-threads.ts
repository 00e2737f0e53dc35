import {
  cutText,
  describeSilence,
  type FleetUsage,
  formatUsageCost,
  nowDoing,
  type SessionHealth,
  type Slot,
  type ThreadRow,
  toLabel,
  tokensOf,
} from '@fleetloom/protocol/fleet';
import { cleanLine, formatCount, formatSpan, plural } from '@fleetloom/protocol/text';
import { formatRunning } from '../terminal/format-running.ts';
import type { Glyphs } from '../terminal/glyphs.ts';
import type { Style } from '../terminal/palette.ts';
import { type Row, type Span, span } from '../terminal/row.ts';
import { textWidth, truncateText } from '../terminal/text-width.ts';
import { endOfText } from './end-of-text.ts';
import { type SlotState, toSlotState } from './slot-state.ts';

/** How threads are drawn. */
export interface ThreadDrawing {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly nowMs: number;
  /** Time of the animations; if undefined, nothing is animated. */
  readonly animationMs?: number;
  /** The server's report on stalled threads. */
  readonly health?: SessionHealth | undefined;
}

/** One line: sign, tree branch, name and current activity; at the right the state, tokens, cost and age. */
export function drawThread(row: ThreadRow, drawing: ThreadDrawing): Row {
  const { glyphs, width, nowMs } = drawing;
  const state = toSlotState(row.slot, nowMs);
  const left = [
    span(`${signOf(state, drawing)} `, state.style),
    span(toRails(row.branches, glyphs), 'rail'),
    span(`${cleanLine(row.agent)}${row.ordinal > 0 ? ` ${row.ordinal}` : ''}`, 'bold'),
  ];
  const word = span(`${toColumn(state.word, WORD_WIDTH, glyphs.ellipsis)} `, state.style);
  const tokens = span(formatCount(tokensOf(row.usage)).padStart(TOKENS_WIDTH), 'dim');
  const cost = span(formatUsageCost(row.usage, glyphs.unknown).padStart(COST_WIDTH), 'dim');
  const age = span(ageOf(row, nowMs).padStart(AGE_WIDTH), 'dim');
  const right = width < NARROW_WIDTH ? [word, cost, age] : [word, tokens, cost, age];
  const room = width - columnsOf(left) - columnsOf(right) - GAPS;
  return { left: [...left, span(`  ${fitDoing(row, drawing, room)}`, 'dim')], right };
}

/** Blanks around the activity column. */
const GAPS = 4;

/** The activity in `room` columns: the end of a text, or the beginning of a tool call or failure. */
export function fitDoing(row: ThreadRow, { nowMs, glyphs, health }: ThreadDrawing, room: number): string {
  const { slot } = row;
  const isText = isSaying(slot) && describeSilence(slot, nowMs) === undefined;
  return isText ? endOfText(slot.text, room, glyphs.ellipsis) : doingOf(row, nowMs, health);
}

/** Whether the line shows the end of the turn's text. */
export function isSaying({ state, phase, text, error }: Slot): boolean {
  if (text.tail === '') return false;
  return (state === 'running' && phase === 'writing') || (state === 'ok' && error === null);
}

function columnsOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + textWidth(text), 0);
}

const WORD_WIDTH = 10;
const TOKENS_WIDTH = 6;
const COST_WIDTH = 9;
const AGE_WIDTH = 12;
const NARROW_WIDTH = 70;

/** The number of threads in each state, and their total usage. */
export function drawSummary(rows: readonly ThreadRow[], usage: FleetUsage, drawing: ThreadDrawing): Span[] {
  const { glyphs, nowMs } = drawing;
  const states = new Map<SlotState['sign'], { style: Style; count: number }>();
  for (const { slot } of rows) {
    const { sign, style } = toSlotState(slot, nowMs);
    states.set(sign, { style, count: (states.get(sign)?.count ?? 0) + 1 });
  }
  const counts = Array.from(states, ([sign, { style, count }]) =>
    span(` ${sign === 'thinking' ? glyphs.thinking[0] : glyphs[sign]}${count}`, style),
  );
  const took = `${formatCount(tokensOf(usage))} tokens ${glyphs.dot} ${formatUsageCost(usage, glyphs.unknown)}`;
  return [span(plural(rows.length, 'thread'), 'dim'), ...counts, span(` ${glyphs.dot} ${took}`, 'dim')];
}

/** The lines of a tree in front of a name. */
export function toRails(branches: readonly boolean[], glyphs: Glyphs): string {
  if (branches.length === 0) return '';
  const above = branches.slice(0, -1).map((follows) => (follows ? `${glyphs.rail} ` : '  '));
  return `${above.join('')}${branches.at(-1) === true ? glyphs.branch : glyphs.lastBranch}${glyphs.reach}`;
}

/** The sign of a state; the sign of thinking is animated. */
export function signOf({ sign, attempt }: SlotState, { glyphs, animationMs }: ThreadDrawing): string {
  if (sign !== 'thinking') return attempt === undefined ? glyphs[sign] : `${glyphs[sign]}${attempt}`;
  const frame = animationMs === undefined ? 0 : Math.floor(animationMs / 150) % glyphs.thinking.length;
  return glyphs.thinking[frame] ?? '';
}

/** The current activity of the thread, clean and on one line. */
export function doingOf({ slot, approvals }: ThreadRow, nowMs: number, health?: SessionHealth): string {
  const [asked] = approvals;
  if (asked !== undefined) return cleanLine(`${asked.tool}: ${toInputLabel(asked.input)}`);
  return cleanLine(describeSilence(slot, nowMs, { health }) ?? nowDoing(slot));
}

/** The subject of a call, as the dashboard shows it in lists. */
export function toInputLabel(input: unknown): string {
  return cleanLine(toLabel(input)) || toInputLine(input);
}

/** The whole input in one line, as the basis of a decision: its only text field, or the input as JSON. */
export function toInputLine(input: unknown): string {
  const fields = typeof input === 'object' && input !== null ? Object.values(input) : [];
  const [only] = fields;
  const text = fields.length === 1 && typeof only === 'string' ? only : (JSON.stringify(input) ?? '');
  return cleanLine(cutText(text, 2_000));
}

/** The time since the turn started, or its duration. */
export function ageOf({ slot: { startedAt, endedAt } }: ThreadRow, nowMs: number): string {
  if (startedAt === null) return '';
  return endedAt === null ? formatRunning(nowMs - startedAt) : formatSpan(endedAt - startedAt);
}

/** The text cut or padded to exactly `width` columns. */
export function toColumn(text: string, width: number, ellipsis: string): string {
  const cut = truncateText(text, width, ellipsis);
  return cut + ' '.repeat(Math.max(0, width - textWidth(cut)));
}
