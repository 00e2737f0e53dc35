import type { TreeItem, TreeThread } from '@fleetloom/protocol/stream-json/tree';
import { cleanLine } from '@fleetloom/protocol/text';
import { limits } from '../../base/limits.ts';
import { type Agent, MAIN } from '../overview/overview.ts';
import { toReport } from '../overview/report.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { drawHeader } from '../tree/draw-header.ts';
import { drawText } from '../tree/draw-text.ts';
import { drawTurn } from '../tree/draw-turn.ts';
import type { Drawing } from '../tree/drawing.ts';
import { drawWholeCall } from './draw-whole-call.ts';
import { type Children, indexChildren, type Transcript } from './transcript.ts';

/** The whole transcript of every agent, row by row; each agent is a branch at the call that spawned it. */
export function* drawTranscript(transcript: Transcript, drawing: Drawing): Generator<Row> {
  const [main] = transcript.tree.threads;
  const context = { transcript, drawing, children: indexChildren(transcript) };
  if (main) yield* drawThread(context, main, { head: '', rest: '', depth: 0 });
}

interface Context {
  transcript: Transcript;
  drawing: Drawing;
  children: Map<string, Children>;
}

interface Branch {
  head: string;
  rest: string;
  depth: number;
}

/** One item below an agent: returns its rows, given its position. */
type Part = (hangs: Hangs) => Iterable<Row>;

interface Hangs {
  /** Prefix of a row that branches off. */
  beside: Span;
  /** Prefix of a text row: the rail, except below the last branch. */
  along: Span;
  below: Span;
  reach: string;
}

function* drawThread(context: Context, thread: TreeThread, branch: Branch): Generator<Row> {
  const { transcript, drawing } = context;
  const { glyphs } = drawing;
  const agent = transcript.overview.agents.get(thread.key) as Agent;
  yield drawHeader(transcript.overview, drawing, agent, span(branch.head, 'rail'));
  // A hostile stream can nest agents deeper than the call stack allows.
  const parts = branch.depth < limits.depthDrawnMax ? partsOf(context, thread, branch.depth) : [TOO_DEEP];
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    const corner = last ? glyphs.lastBranch : glyphs.branch;
    const beside = span(`${branch.rest}${corner} `, 'rail');
    const below = span(`${branch.rest}${last ? ' ' : glyphs.rail} `, 'rail');
    yield* part({ beside, below, along: last ? beside : below, reach: `${branch.rest}${corner}${glyphs.reach}` });
  }
}

function partsOf(context: Context, thread: TreeThread, depth: number): Part[] {
  const { transcript, drawing, children } = context;
  const { byCall, others } = children.get(thread.key) ?? NO_CHILDREN;
  const toAgent =
    (child: TreeThread): Part =>
    ({ below, reach }) =>
      drawThread(context, child, { head: reach, rest: below.text, depth: depth + 1 });
  const parts: Part[] = [];
  if (thread.prompt !== null && !thread.items.some((item) => item.kind === 'user_text' && item.role === 'prompt')) {
    parts.push(givenPart(drawing, thread.prompt));
  }
  for (const item of thread.items) {
    const child = item.kind === 'tool_use' ? byCall.get(item.id) : undefined;
    parts.push(child ? toAgent(child) : itemPart(transcript, drawing, item));
  }
  for (const other of others) parts.push(toAgent(other));
  for (const report of unseenReports(transcript, thread)) parts.push(textPart(drawing, 'text', report));
  if (thread.key === MAIN) {
    for (const turn of transcript.turns)
      parts.push(({ beside }) => [drawTurn(transcript.overview, drawing, turn, beside)]);
  }
  return parts;
}

const TOO_DEEP: Part = ({ beside }) => [{ left: [beside, span('(nested too deeply to show)', 'dim')], right: [] }];

const NO_CHILDREN: Children = { byCall: new Map(), others: [] };

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

/**
 * The report of an agent, if it is not among its own texts: foreground agents print only their tool calls. Without a
 * report, the result of the spawning call is used.
 */
function unseenReports(transcript: Transcript, thread: TreeThread): string[] {
  const said = new Set(thread.items.flatMap((item) => (item.kind === 'text' ? item.text.trim() : [])));
  const clean = (reports: readonly string[]) => reports.flatMap((text) => toReport(text, thread.description) ?? []);
  const reports = clean(transcript.reports.get(thread.key) ?? []);
  if (reports.length > 0) return reports.filter((report) => !said.has(report));
  if (thread.key === MAIN || said.size > 0) return [];
  return clean(thread.runs.map((run) => transcript.results.get(run.toolUseId ?? '')?.output ?? ''));
}
