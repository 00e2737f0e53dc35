import { formatUsageCost, hasExamplePrice } from '@fleetloom/protocol/fleet';
import { cleanLine, formatCost, plural } from '@fleetloom/protocol/text';
import { signOf, toColumn } from '../../fleet/draw-threads.ts';
import type { SlotState } from '../../fleet/slot-state.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { textWidth } from '../../terminal/text-width.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import type { WatchDrawing } from './watch-drawing.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** The header: threads by state, cost, and connection state. Omits parts if there is no room. */
export function drawHeader(model: WatchModel, pendingCalls: readonly PendingCall[], drawing: WatchDrawing): Row {
  const right = model.replay === undefined ? drawLink(model, drawing) : drawReplay(model.replay, drawing);
  const room = drawing.width - widthOf(right) - 2;
  const counts = drawCounts(model, pendingCalls, drawing);
  let left: Span[] = [];
  for (let brevity = 0; brevity <= 4; brevity += 1) {
    left = drawFacts(model, counts, pendingCalls, drawing, brevity);
    if (widthOf(left) <= room) break;
  }
  return { left, right };
}

function drawFacts(
  model: WatchModel,
  counts: readonly Span[],
  pendingCalls: readonly PendingCall[],
  drawing: WatchDrawing,
  brevity: number,
): Span[] {
  const { glyphs } = drawing;
  const { length } = model.threads();
  const dot = span(brevity >= 2 ? ' ' : ` ${glyphs.dot} `, 'dim');
  const name = nameOf(model, glyphs.ellipsis, brevity);
  const need =
    pendingCalls.length === 0
      ? []
      : [
          dot,
          span(
            `${glyphs.needsYou} ${pendingCalls.length} ${pendingCalls.length === 1 ? 'needs' : 'need'} you`,
            'attention',
          ),
        ];
  return [
    span(brevity >= 4 ? ' ' : ' fleetloom', 'brand'),
    ...(brevity >= 3 ? [] : [dot, span(name, 'dim')]),
    // First, because it is the most important.
    ...(brevity >= 2 ? [] : need),
    dot,
    span(brevity === 0 ? plural(length, 'thread') : `${length} thr`, 'dim'),
    ...counts,
    dot,
    ...drawMoney(model, drawing, brevity),
  ];
}

/** The name of the session; until it is known, there is only the id. */
function nameOf({ facts, sessionId }: WatchModel, ellipsis: string, brevity: number): string {
  if (facts.name === null) return brevity === 0 ? sessionId : `${ellipsis}${sessionId.slice(-6)}`;
  const name = cleanLine(facts.name);
  return toColumn(name, Math.min(textWidth(name), brevity === 0 ? NAME_COLUMNS : NARROW_NAME_COLUMNS), ellipsis);
}

const NAME_COLUMNS = 48;
const NARROW_NAME_COLUMNS = 16;

/** One count per state, most urgent state first. */
function drawCounts(model: WatchModel, pendingCalls: readonly PendingCall[], drawing: WatchDrawing): Span[] {
  const counts = new Map<SlotState['sign'], { state: SlotState; count: number }>();
  for (const row of model.threads()) {
    const { attempt: _, ...state } = model.stateOf(row, drawing.nowMs, pendingCalls);
    counts.set(state.sign, { state, count: (counts.get(state.sign)?.count ?? 0) + 1 });
  }
  return SIGNS.flatMap((sign) => {
    const found = counts.get(sign);
    // Not animated, so that the number stays readable.
    const still = { ...drawing, animationMs: 0 };
    return found === undefined ? [] : [span(` ${signOf(found.state, still)}${found.count}`, found.state.style)];
  });
}

const SIGNS: readonly SlotState['sign'][] = [
  'needsYou',
  'failed',
  'unfinished',
  'retry',
  'thinking',
  'writing',
  'tool',
  'waits',
  'queued',
  'stopped',
  'done',
];

function drawMoney({ scene, facts }: WatchModel, { glyphs, nowMs }: WatchDrawing, brevity: number): Span[] {
  const { usage } = scene.slots.totals;
  const rate = scene.burn.lastMinute(nowMs);
  const { budgetUsd } = facts;
  const models = scene.slots.runs.flatMap(({ slots }) => slots.map(({ model }) => model ?? ''));
  const example = models.some(hasExamplePrice) ? 'e.g. ' : '';
  const isNear = budgetUsd !== null && usage.costUsd >= 0.8 * budgetUsd;
  return [
    span(`${example}${formatUsageCost(usage, `$${glyphs.unknown}`)}`, isNear ? 'attention' : 'plain'),
    ...(rate > 0 && brevity < 2 ? [span(` (+${formatCost(rate).slice(1)}/min)`, 'dim')] : []),
    ...(budgetUsd === null ? [] : [span(` of $${Number(budgetUsd.toFixed(2))}`, isNear ? 'attention' : 'dim')]),
  ];
}

function drawLink({ link, lagMs, seen }: WatchModel, { glyphs, nowMs }: WatchDrawing): Span[] {
  const { cursor, gapCount } = seen.slots;
  const seq = span(`seq ${cursor === null ? 0 : Number.parseInt(cursor, 10)} `, 'dim');
  const gaps = gapCount === 0 ? [] : [span(`${plural(gapCount, 'gap')} `, 'attention')];
  if (link === 'live')
    return [seq, ...gaps, span(`${glyphs.live} ${lagMs === undefined ? 'live' : toLag(lagMs)}`, 'ok')];
  if (link === 'over') return [seq, ...gaps, span(`${glyphs.stopped} over`, 'dim')];
  // Animated, to show that it is not stuck.
  const turn = glyphs.spinner[Math.floor(nowMs / 200) % glyphs.spinner.length] ?? '';
  return [
    seq,
    span(link === 'waiting' ? `${glyphs.retry} reconnecting ${turn}` : `${glyphs.retry} loading ${turn}`, 'retry'),
  ];
}

function toLag(lagMs: number): string {
  return lagMs < 10_000 ? `${Math.round(lagMs)}ms` : `${Math.round(lagMs / 1000)}s`;
}

function drawReplay(replay: NonNullable<WatchModel['replay']>, { glyphs }: WatchDrawing): Span[] {
  if (!replay.isLoaded) return [span(`${glyphs.retry} loading ${replay.length} events`, 'retry')];
  const clock = replay.length === 0 ? '--:--:--' : new Date(replay.nowMs).toTimeString().slice(0, 8);
  return [span(`REPLAY ${clock} ${glyphs.dot} ${replay.at}/${replay.length}`, 'attention')];
}

function widthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + textWidth(text), 0);
}
