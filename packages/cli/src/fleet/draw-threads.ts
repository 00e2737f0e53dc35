import { cutText, type FleetUsage, nowDoing, type SessionHealth, type Slot } from '@fleetloom/protocol/fleet';
import { cleanInputLine, cleanLine } from '../terminal/clean-text.ts';
import { formatCost, formatCount, formatDuration, formatPlural, formatRunning } from '../terminal/format.ts';
import type { Glyphs } from '../terminal/glyphs.ts';
import type { Style } from '../terminal/palette.ts';
import { type Row, type Span, span } from '../terminal/row.ts';
import { textWidth, truncateText } from '../terminal/text-width.ts';
import { endOfText } from './end-of-text.ts';
import { silenceOf, type SlotState, toSlotState } from './slot-state.ts';
import type { ThreadRow } from './thread-rows.ts';

/** How threads are drawn. */
export interface ThreadDrawing {
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly nowMs: number;
  /** The clock of what moves without meaning anything; without it nothing moves. */
  readonly animationMs?: number;
  /** What the server knows of those that are stalled. */
  readonly health?: SessionHealth | undefined;
}

/** One line: sign, place in the tree and name, what it does now; at the right its state in a word, tokens, cost, age. */
export function drawThread(row: ThreadRow, drawing: ThreadDrawing): Row {
  const { glyphs, width, nowMs } = drawing;
  const state = toSlotState(row.slot, nowMs);
  const left = [
    span(`${signOf(state, drawing)} `, state.style),
    span(toRails(row.branches, glyphs), 'rail'),
    span(cleanLine(row.agent), 'bold'),
  ];
  const word = span(`${toColumn(state.word, WORD_WIDTH, glyphs.ellipsis)} `, state.style);
  const tokens = span(tokensOf(row.usage).padStart(TOKENS_WIDTH), 'dim');
  const cost = span(costOf(row.usage, glyphs).padStart(COST_WIDTH), 'dim');
  const age = span(ageOf(row, nowMs).padStart(AGE_WIDTH), 'dim');
  const right = width < NARROW_WIDTH ? [word, cost, age] : [word, tokens, cost, age];
  const room = width - columnsOf(left) - columnsOf(right) - GAPS;
  return { left: [...left, span(`  ${fitDoing(row, drawing, room)}`, 'dim')], right };
}

/** Between what it does and what stands before and behind it. */
const GAPS = 4;

/** Of what somebody says the end is the news; of a call or a failure, the beginning. */
export function fitDoing(row: ThreadRow, { nowMs, glyphs, health }: ThreadDrawing, room: number): string {
  const { slot } = row;
  const isText = isSaying(slot) && silenceOf(slot, nowMs) === undefined;
  return isText ? endOfText(slot.text, room, glyphs.ellipsis) : doingOf(row, nowMs, health);
}

/** What is told of it is the end of its text. */
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
const AGE_WIDTH = 8;
const NARROW_WIDTH = 70;

/** How many threads are in which state, with what all of them took. */
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
  const took = `${formatCount(usage.inputTokens + usage.outputTokens)} tokens ${glyphs.dot} ${costOf(usage, glyphs)}`;
  return [span(formatPlural(rows.length, 'thread'), 'dim'), ...counts, span(` ${glyphs.dot} ${took}`, 'dim')];
}

/** The lines of a tree in front of a name. */
export function toRails(branches: readonly boolean[], glyphs: Glyphs): string {
  if (branches.length === 0) return '';
  const above = branches.slice(0, -1).map((follows) => (follows ? `${glyphs.rail} ` : '  '));
  return `${above.join('')}${branches.at(-1) === true ? glyphs.branch : glyphs.lastBranch}${glyphs.reach}`;
}

export function signOf({ sign, attempt }: SlotState, { glyphs, animationMs }: ThreadDrawing): string {
  if (sign !== 'thinking') return attempt === undefined ? glyphs[sign] : `${glyphs[sign]}${attempt}`;
  const frame = animationMs === undefined ? 0 : Math.floor(animationMs / 150) % glyphs.thinking.length;
  return glyphs.thinking[frame] ?? '';
}

/** Clean and on one line, whatever an agent says. */
export function doingOf({ slot, approvals }: ThreadRow, nowMs: number, health?: SessionHealth): string {
  const [asked] = approvals;
  if (asked !== undefined) return cleanLine(`${asked.tool}: ${toInputLine(asked.input)}`);
  return cleanLine(silenceOf(slot, nowMs, health) ?? nowDoing(slot));
}

/** The field of an input that says most, else all of it. */
export function toInputLine(input: unknown): string {
  const fields = typeof input === 'object' && input !== null ? Object.values(input) : [];
  const [only] = fields;
  const text = fields.length === 1 && typeof only === 'string' ? only : (JSON.stringify(input) ?? '');
  return cleanInputLine(cutText(text, 2_000));
}

/** An unknown price is not nothing: a plus says that there is more to it. */
export function costOf({ costUsd, requestsWithoutCost }: FleetUsage, { unknown }: Glyphs): string {
  if (requestsWithoutCost === 0) return formatCost(costUsd);
  return costUsd === 0 ? unknown : `${formatCost(costUsd)}+`;
}

export function tokensOf({ inputTokens, outputTokens }: FleetUsage): string {
  return formatCount(inputTokens + outputTokens);
}

/** Since it began, or how long it took. */
export function ageOf({ slot: { startedAt, endedAt } }: ThreadRow, nowMs: number): string {
  if (startedAt === null) return '';
  return endedAt === null ? formatRunning(nowMs - startedAt) : formatDuration(endedAt - startedAt);
}

/** Exactly so many columns. */
export function toColumn(text: string, width: number, ellipsis: string): string {
  const cut = truncateText(text, width, ellipsis);
  return cut + ' '.repeat(Math.max(0, width - textWidth(cut)));
}
