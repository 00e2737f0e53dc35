import { signOf } from '../fleet/draw-threads.ts';
import type { SlotState } from '../fleet/slot-state.ts';
import { formatPlural } from '../terminal/format.ts';
import { type Row, type Span, span } from '../terminal/row.ts';
import { textWidth } from '../terminal/text-width.ts';
import type { Ask } from './asks.ts';
import { toMoney } from './draw-list.ts';
import type { WatchDrawing } from './draw-watch.ts';
import type { WatchModel } from './watch-model.ts';

/** What is known about the session: how many are how, what it costs, and whether it is live. Says less where room is scarce. */
export function drawHeader(model: WatchModel, asks: readonly Ask[], drawing: WatchDrawing): Row {
  const right = model.replay === undefined ? drawLink(model, drawing) : drawReplay(model.replay, drawing);
  const room = drawing.width - widthOf(right) - 2;
  const counts = drawCounts(model, asks, drawing);
  let left: Span[] = [];
  for (let brevity = 0; brevity <= 4; brevity += 1) {
    left = drawFacts(model, counts, asks, drawing, brevity);
    if (widthOf(left) <= room) break;
  }
  return { left, right };
}

function drawFacts(
  model: WatchModel,
  counts: readonly Span[],
  asks: readonly Ask[],
  drawing: WatchDrawing,
  brevity: number,
): Span[] {
  const { glyphs } = drawing;
  const { length } = model.threads();
  const dot = span(brevity >= 2 ? ' ' : ` ${glyphs.dot} `, 'dim');
  const id = brevity === 0 ? model.sessionId : `${glyphs.ellipsis}${model.sessionId.slice(-6)}`;
  const need = asks.length === 0 ? [] : [dot, span(`${glyphs.needsYou} ${asks.length} need you`, 'attention')];
  return [
    span(brevity >= 4 ? ' ' : ' fleetloom', 'brand'),
    ...(brevity >= 3 ? [] : [dot, span(id, 'dim')]),
    // In front of the rest, because this is what somebody looks for.
    ...(brevity >= 2 ? [] : need),
    dot,
    span(brevity === 0 ? formatPlural(length, 'thread') : `${length} thr`, 'dim'),
    ...counts,
    dot,
    ...drawMoney(model, drawing, brevity),
  ];
}

/** One for each state that there is, in the order in which states matter. */
function drawCounts(model: WatchModel, asks: readonly Ask[], drawing: WatchDrawing): Span[] {
  const counts = new Map<SlotState['sign'], { state: SlotState; count: number }>();
  for (const row of model.threads()) {
    const { attempt: _, ...state } = model.stateOf(row, drawing.nowMs, asks);
    counts.set(state.sign, { state, count: (counts.get(state.sign)?.count ?? 0) + 1 });
  }
  return SIGNS.flatMap((sign) => {
    const found = counts.get(sign);
    // Without moving: a number beside it is to be read.
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
  const { costUsd, requestsWithoutCost } = scene.slots.totals.usage;
  const spent = toMoney(costUsd, requestsWithoutCost, glyphs.unknown);
  const rate = scene.burn.lastMinute(nowMs);
  const { budgetUsd } = facts;
  const isNear = budgetUsd !== null && costUsd >= 0.8 * budgetUsd;
  return [
    span(spent === glyphs.unknown ? `$${glyphs.unknown}` : `$${spent}`, isNear ? 'attention' : 'plain'),
    ...(rate > 0 && brevity < 2 ? [span(` (+${toMoney(rate, 0, '')}/min)`, 'dim')] : []),
    ...(budgetUsd === null ? [] : [span(` of $${Number(budgetUsd.toFixed(2))}`, isNear ? 'attention' : 'dim')]),
  ];
}

function drawLink({ link, lagMs, seen }: WatchModel, { glyphs, nowMs }: WatchDrawing): Span[] {
  const { cursor, gapCount } = seen.slots;
  const seq = span(`seq ${cursor === null ? 0 : Number.parseInt(cursor, 10)} `, 'dim');
  const gaps = gapCount === 0 ? [] : [span(`${formatPlural(gapCount, 'gap')} `, 'attention')];
  if (link === 'live')
    return [seq, ...gaps, span(`${glyphs.live} ${lagMs === undefined ? 'live' : toLag(lagMs)}`, 'ok')];
  if (link === 'over') return [seq, ...gaps, span(`${glyphs.stopped} over`, 'dim')];
  // Something moves, so that nobody takes it for stuck.
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
