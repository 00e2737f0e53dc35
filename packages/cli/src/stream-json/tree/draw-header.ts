import { cutTextStart } from '@fleetloom/protocol/fleet';
import { cleanLine, formatCount, formatSpan } from '@fleetloom/protocol/text';
import { agentDurationMs, agentTokens, isRunning, nameOf } from '../overview/agent-facts.ts';
import { type Agent, MAIN, type Overview } from '../overview/overview.ts';
import { formatRunning } from '../../terminal/format-running.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { toAgentState } from './agent-state.ts';
import { summarizeCall } from './call-summary.ts';
import { type Drawing, pickFrame, TIME_WIDTH } from './drawing.ts';

/** The header line of an agent: mark, name and type; at the right its state, tokens and duration. */
export function drawHeader(overview: Overview, drawing: Drawing, agent: Agent, head: Span): Row {
  const { glyphs, detail } = drawing;
  const state = toAgentState(overview, agent);
  const sign = state.sign === 'thinking' ? pickFrame(glyphs.thinking, drawing, 150) : glyphs[state.sign];
  const name = nameOf(agent);
  const left = [head, span(`${sign} `, state.style), span(name, 'bold')];
  const type = cleanLine(agent.type ?? '');
  if (type !== '' && type !== name) left.push(span(`  ${type}`, 'dim'));
  if (agent.background) left.push(span(`  in background`, 'dim'));
  // The newest text of the main agent is always drawn.
  if (detail.now && agent.key !== MAIN && isRunning(overview, agent)) left.push(...drawNow(overview, drawing, agent));
  return { left, right: [span(state.word, state.style), ...drawFigures(overview, drawing, agent)] };
}

const TOKENS_WIDTH = 10;

function drawNow(overview: Overview, { glyphs }: Drawing, agent: Agent): Span[] {
  const open = [...agent.openCalls].map((id) => overview.openCalls.get(id)?.call);
  const call = open.findLast((each) => each !== undefined && each.agent === undefined);
  const said = call ? summarizeCall(call.name, call.input, overview.cwd) : newestText(agent);
  return said === '' ? [] : [span(`  ${glyphs.given} `, 'rail'), span(said, 'dim')];
}

function newestText(agent: Agent): string {
  const newest = agent.entries.findLast((entry) => entry.type === 'text' && entry.text.trim() !== '');
  return newest?.type === 'text' ? cleanLine(cutTextStart(newest.text, 200)) : '';
}

function drawFigures(overview: Overview, drawing: Drawing, agent: Agent): Span[] {
  const tokens = agentTokens(agent);
  const figures = [span(agentTime(overview, drawing, agent).padStart(TIME_WIDTH), 'dim')];
  if (agent.key === MAIN || drawing.width < 70) return figures;
  const count = tokens === undefined ? '' : `${formatCount(tokens)} tok`;
  return [span(count.padStart(TOKENS_WIDTH), 'dim'), ...figures];
}

function agentTime(overview: Overview, { nowMs }: Drawing, agent: Agent): string {
  const since = agent.first.arrivalMs;
  if (isRunning(overview, agent) && !overview.ended && nowMs !== undefined) {
    return since === undefined ? '' : formatRunning(nowMs - since);
  }
  const ms = agentDurationMs(overview, agent);
  return ms === undefined ? '' : formatSpan(ms);
}
