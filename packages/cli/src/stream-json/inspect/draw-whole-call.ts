import type { ToolUseItem } from '@fleetloom/protocol/stream-json/tree';
import { cleanLine, formatSpan } from '@fleetloom/protocol/text';
import { cleanText } from '../../terminal/clean-text.ts';
import type { Style } from '../../terminal/palette.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { wrapText } from '../../terminal/text-width.ts';
import { displayToolName, summarizeCall } from '../tree/call-summary.ts';
import { type Drawing, TIME_WIDTH } from '../tree/drawing.ts';
import { resultText } from './result-text.ts';
import type { Transcript } from './transcript.ts';

/** A tool call with its whole input and result. */
export function* drawWholeCall(
  transcript: Transcript,
  drawing: Drawing,
  call: ToolUseItem,
  beside: Span,
  below: Span,
): Generator<Row> {
  const { glyphs, width } = drawing;
  const result = transcript.results.get(call.id);
  const mark = result ? (result.isError ? glyphs.failed : glyphs.done) : glyphs.unfinished;
  const style: Style = result ? (result.isError ? 'failed' : 'ok') : 'attention';
  const tookMs = transcript.callTimesMs.get(call.id);
  const summary = summarizeCall(call.name, call.input, transcript.overview.cwd);
  yield {
    left: [beside, span(`${mark} `, style), span(cleanLine(displayToolName(call.name)), 'tool'), span(`  ${summary}`)],
    right: [span((tookMs === undefined ? '' : formatSpan(tookMs)).padStart(TIME_WIDTH), 'dim')],
  };
  const room = Math.max(16, width - below.text.length - 2);
  for (const line of inputLines(call.input, summary, transcript.overview.cwd, room)) {
    yield { left: [below, span(`  ${line}`, 'dim')], right: [] };
  }
  const output = cleanText(result ? resultText(result) : '').trimEnd();
  for (const [index, line] of (output === '' ? [] : wrapText(output, room)).entries()) {
    const sign = span(index === 0 ? `${glyphs.result} ` : '  ', 'dim');
    yield { left: [below, sign, span(line, result?.isError ? 'failed' : 'plain')], right: [] };
  }
}

/** The fields of the input, except a field that the line of the call already shows in full. */
function* inputLines(input: unknown, summary: string, cwd: string | undefined, width: number): Generator<string> {
  if (typeof input !== 'object' || input === null) return;
  for (const [field, value] of Object.entries(input)) {
    if (summary.length < width - SHOWN_MARGIN && (value === summary || value === `${cwd}/${summary}`)) continue;
    const text = cleanText(`${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    yield* wrapText(text, width);
  }
}

/** Columns of a call's line for mark, name and time; a summary that fits beside them is shown in full. */
const SHOWN_MARGIN = 30;
