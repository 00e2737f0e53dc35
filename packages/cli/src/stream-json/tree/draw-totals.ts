import { formatCost, formatCount, formatSpan, plural } from '@fleetloom/protocol/text';
import { durationBetween } from '../overview/moment.ts';
import type { Overview } from '../overview/overview.ts';
import { formatRunning } from '../../terminal/format-running.ts';
import type { Style } from '../../terminal/palette.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { type StateSign, toAgentState } from './agent-state.ts';
import { type Drawing, TIME_WIDTH } from './drawing.ts';

/** The last line: agents by state, calls, tokens, unreadable lines; cost and duration. */
export function drawTotals(overview: Overview, drawing: Drawing): Row {
  const { glyphs } = drawing;
  const parts: Span[][] = [drawAgents(overview, drawing), drawCalls(overview)];
  const { inputTokens, outputTokens, costUsd } = overview.totals;
  if (inputTokens !== undefined && outputTokens !== undefined) {
    parts.push([span(`${formatCount(inputTokens + outputTokens)} tokens`, 'dim')]);
  }
  if (overview.unreadableLines > 0) {
    parts.push([span(plural(overview.unreadableLines, 'unreadable line'), 'attention')]);
  }
  if (overview.missingResults > 0) parts.push([span(plural(overview.missingResults, 'missing result'), 'attention')]);
  const between = span(` ${glyphs.dot} `, 'rail');
  const left = parts
    .filter((part) => part.length > 0)
    .flatMap((part, index) => (index === 0 ? part : [between, ...part]));
  const cost = span(costUsd === undefined ? '' : formatCost(costUsd), 'bold');
  return { left, right: [cost, span(totalTime(overview, drawing).padStart(TIME_WIDTH), 'dim')] };
}

function drawAgents(overview: Overview, { glyphs }: Drawing): Span[] {
  const states = new Map<StateSign, { style: Style; count: number }>();
  for (const agent of overview.agents.values()) {
    const state = toAgentState(overview, agent);
    const known = states.get(state.sign);
    states.set(state.sign, { style: state.style, count: (known?.count ?? 0) + 1 });
  }
  const counts = [...states].map(([sign, { style, count }]) =>
    span(` ${sign === 'thinking' ? glyphs.thinking[0] : glyphs[sign]}${count}`, style),
  );
  return [span(plural(overview.agents.size, 'agent'), 'dim'), ...(overview.agents.size > 1 ? counts : [])];
}

function drawCalls(overview: Overview): Span[] {
  let calls = 0;
  let failed = 0;
  for (const agent of overview.agents.values()) {
    calls += agent.calls;
    failed += agent.failedCalls;
  }
  if (calls === 0) return [];
  const spans = [span(plural(calls, 'call'), 'dim')];
  return failed === 0 ? spans : [...spans, span(`, ${failed} failed`, 'failed')];
}

function totalTime(overview: Overview, { nowMs }: Drawing): string {
  const since = overview.first.arrivalMs;
  if (!overview.ended && nowMs !== undefined) return since === undefined ? '' : formatRunning(nowMs - since);
  const reported = overview.timeSource === 'line' ? overview.totals.durationMs : undefined;
  const ms = reported ?? durationBetween(overview.timeSource, overview.first, overview.last);
  return ms === undefined ? '' : formatSpan(ms);
}
