import { cleanLine, formatSpan } from '@fleetloom/protocol/text';
import { callDurationMs } from '../overview/agent-facts.ts';
import type { CallEntry, Overview } from '../overview/overview.ts';
import { formatRunning } from '../../terminal/format-running.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { displayToolName, summarizeCall } from './call-summary.ts';
import { type Drawing, pickFrame, TIME_WIDTH } from './drawing.ts';

/** A tool call on one line: mark, name, summary, error; its duration at the right. */
export function drawCall(overview: Overview, drawing: Drawing, call: CallEntry, asks: boolean, beside: Span): Row {
  const failed = call.result?.isError === true;
  const name = span(cleanLine(displayToolName(call.name)), failed ? 'failed' : asks ? 'attention' : 'tool');
  const mark = asks ? span(`${drawing.glyphs.needsYou} `, 'attention') : drawMark(overview, drawing, call);
  const left = [beside, mark, name];
  const about = summarizeCall(call.name, call.input, overview.cwd);
  if (about !== '') left.push(span(`  ${about}`));
  if (asks) left.push(span('  needs you', 'attention'));
  const message = failed ? firstWords(call.result?.message ?? '') : '';
  if (message !== '') left.push(span(`  ${message}`, 'failed'));
  return { left, right: [span(callTime(overview, drawing, call).padStart(TIME_WIDTH), 'dim')] };
}

function drawMark(overview: Overview, drawing: Drawing, call: CallEntry): Span {
  const { glyphs } = drawing;
  if (call.result) return call.result.isError ? span(`${glyphs.failed} `, 'failed') : span(`${glyphs.done} `, 'ok');
  if (overview.ended) return span(`${glyphs.unfinished} `, 'attention');
  return span(`${pickFrame(glyphs.spinner, drawing, 100)} `, 'writing');
}

/** Errors of built-in tools are wrapped in a tag, which the mark already expresses. */
function firstWords(message: string): string {
  return cleanLine(message.replace(/<\/?tool_use_error>/g, ''));
}

function callTime(overview: Overview, { nowMs }: Drawing, call: CallEntry): string {
  const ms = callDurationMs(overview, call);
  if (ms !== undefined) return formatSpan(ms);
  const since = call.started.arrivalMs;
  if (call.result || overview.ended || nowMs === undefined || since === undefined) return '';
  return formatRunning(nowMs - since);
}
