import type { ToolUseItem, TreeItem, TreeThread } from '@fleetloom/protocol/stream-json';
import { limits } from '../limits.ts';
import { type Agent, MAIN } from '../overview/overview.ts';
import { toReport } from '../overview/report.ts';
import { cleanLine, cleanText } from '../terminal/clean-text.ts';
import { formatDuration } from '../terminal/format.ts';
import type { Style } from '../terminal/palette.ts';
import { type Row, type Span, span } from '../terminal/row.ts';
import { wrapText } from '../terminal/text-width.ts';
import { displayToolName, summarizeCall } from '../tree/call-summary.ts';
import { drawHeader } from '../tree/draw-header.ts';
import { drawText } from '../tree/draw-text.ts';
import { drawTurn } from '../tree/draw-turn.ts';
import { type Drawing, TIME_WIDTH } from '../tree/drawing.ts';
import { childrenOf, type Transcript } from './transcript.ts';

/** Everything every agent was given, said and did, row by row; one branch per agent, where it was spawned. */
export function* drawTranscript(transcript: Transcript, drawing: Drawing): Generator<Row> {
  const [main] = transcript.tree.threads;
  if (main) yield* drawThread(transcript, drawing, main, { head: '', rest: '', depth: 0 });
}

interface Branch {
  head: string;
  rest: string;
  depth: number;
}

/** One thing below an agent: given how it hangs there, its rows. */
type Part = (hangs: Hangs) => Iterable<Row>;

interface Hangs {
  /** Before a row that branches off. */
  beside: Span;
  /** Before a row of text, which stands on the rail unless it ends it. */
  along: Span;
  below: Span;
  reach: string;
}

function* drawThread(transcript: Transcript, drawing: Drawing, thread: TreeThread, branch: Branch): Generator<Row> {
  const { glyphs } = drawing;
  const agent = transcript.overview.agents.get(thread.key) as Agent;
  yield drawHeader(transcript.overview, drawing, agent, span(branch.head, 'rail'));
  if (branch.depth >= limits.depthDrawnMax) return;
  const parts = partsOf(transcript, drawing, thread, branch.depth);
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    const corner = last ? glyphs.lastBranch : glyphs.branch;
    const beside = span(`${branch.rest}${corner} `, 'rail');
    const below = span(`${branch.rest}${last ? ' ' : glyphs.rail} `, 'rail');
    yield* part({ beside, below, along: last ? beside : below, reach: `${branch.rest}${corner}${glyphs.reach}` });
  }
}

function partsOf(transcript: Transcript, drawing: Drawing, thread: TreeThread, depth: number): Part[] {
  const { byCall, others } = childrenOf(transcript, thread);
  const toAgent =
    (child: TreeThread): Part =>
    ({ below, reach }) =>
      drawThread(transcript, drawing, child, { head: reach, rest: below.text, depth: depth + 1 });
  const parts: Part[] = [];
  if (thread.prompt !== null && !thread.items.some((item) => item.kind === 'user_text' && item.role === 'prompt')) {
    parts.push(givenPart(drawing, thread.prompt));
  }
  for (const item of thread.items) {
    const child = item.kind === 'tool_use' ? byCall.get(item.id) : undefined;
    parts.push(child ? toAgent(child) : itemPart(transcript, drawing, item));
  }
  parts.push(...others.map(toAgent));
  for (const report of unseenReports(transcript, thread)) parts.push(textPart(drawing, 'text', report));
  if (thread.key === MAIN) {
    for (const turn of transcript.turns)
      parts.push(({ beside }) => [drawTurn(transcript.overview, drawing, turn, beside)]);
  }
  return parts;
}

function itemPart(transcript: Transcript, drawing: Drawing, item: TreeItem): Part {
  switch (item.kind) {
    case 'text':
    case 'thinking':
      return textPart(drawing, item.kind, item.text, item.error, item.aborted);
    case 'tool_use':
      return ({ beside, below }) => drawWholeCall(transcript, drawing, item, beside, below);
    case 'user_text':
      return givenPart(drawing, item.text);
    case 'user_image':
      return givenPart(drawing, '[image]');
    case 'other':
      return ({ beside }) => [{ left: [beside, span(`[${cleanLine(item.type)}]`, 'dim')], right: [] }];
  }
}

function textPart(drawing: Drawing, type: 'text' | 'thinking', text: string, error?: string, aborted?: boolean): Part {
  const entry = { type, text: text === '' ? '(hidden)' : text, omittedChars: 0, aborted: aborted === true };
  const drawn = {
    entry: error === undefined ? entry : { ...entry, error },
    lines: Number.POSITIVE_INFINITY,
    tail: false,
  };
  return ({ along, below }) => drawText(drawing, drawn, along, below);
}

function givenPart(drawing: Drawing, text: string): Part {
  const entry = { type: 'text' as const, text, omittedChars: 0, aborted: false };
  const drawn = { entry, lines: Number.POSITIVE_INFINITY, tail: false, given: true };
  return ({ along, below }) => drawText(drawing, drawn, along, below);
}

function* drawWholeCall(
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
    right: [span((tookMs === undefined ? '' : formatDuration(tookMs)).padStart(TIME_WIDTH), 'dim')],
  };
  const room = Math.max(16, width - below.text.length - 2);
  for (const line of inputLines(call.input, summary, transcript.overview.cwd, room)) {
    yield { left: [below, span(`  ${line}`, 'dim')], right: [] };
  }
  const output = cleanText(result?.output ?? '').trimEnd();
  for (const [index, line] of (output === '' ? [] : wrapText(output, room)).entries()) {
    const sign = span(index === 0 ? `${glyphs.result} ` : '  ', 'dim');
    yield { left: [below, sign, span(line, result?.isError ? 'failed' : 'plain')], right: [] };
  }
}

/** The fields of the input, but for the one that the call's own line already shows whole. */
function* inputLines(input: unknown, summary: string, cwd: string | undefined, width: number): Generator<string> {
  if (typeof input !== 'object' || input === null) return;
  for (const [field, value] of Object.entries(input)) {
    if (summary.length < width - SHOWN_MARGIN && (value === summary || value === `${cwd}/${summary}`)) continue;
    const text = cleanText(`${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    yield* wrapText(text, width);
  }
}

/** Mark, name and time take so much of a call's own line that a summary of the rest surely stands there whole. */
const SHOWN_MARGIN = 30;

/**
 * What an agent handed back, where it is not among its own texts: foreground agents print only their calls. Where the
 * program told no report, the answer to the call is all there is.
 */
function unseenReports(transcript: Transcript, thread: TreeThread): string[] {
  const said = new Set(thread.items.flatMap((item) => (item.kind === 'text' ? item.text.trim() : [])));
  const clean = (told: readonly string[]) => told.flatMap((text) => toReport(text, thread.description) ?? []);
  const reports = clean(transcript.reports.get(thread.key) ?? []);
  if (reports.length > 0) return reports.filter((report) => !said.has(report));
  if (thread.key === MAIN || said.size > 0) return [];
  return clean(thread.runs.map((run) => transcript.results.get(run.toolUseId ?? '')?.output ?? ''));
}
