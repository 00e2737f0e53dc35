import { cutText, cutTextStart } from '@fleetloom/protocol/fleet';
import { cleanLine, formatCount, formatSpan } from '@fleetloom/protocol/text';
import { toInputLine } from '../../fleet/draw-threads.ts';
import { toInputLines } from '../../fleet/input-lines.ts';
import { limits } from '../../base/limits.ts';
import { cleanText } from '../../terminal/clean-text.ts';
import type { Style } from '../../terminal/palette.ts';
import { type Row, span } from '../../terminal/row.ts';
import { wrapText } from '../../terminal/text-width.ts';
import type { WatchDrawing } from './watch-drawing.ts';
import type { Entry } from '../state/transcript.ts';

/** One entry of a thread: text in full, thinking and tool calls on one line each unless expanded. */
export function drawEntry(entry: Entry, isUnfolded: boolean, drawing: WatchDrawing): Row[] {
  switch (entry.type) {
    case 'task':
      return [...drawLines(entry, `${drawing.glyphs.given} `, 'dim', drawing), EMPTY];
    case 'text':
      return [...drawLines(entry, '', 'plain', drawing), EMPTY];
    case 'thinking':
      return isUnfolded ? [...drawLines(entry, '  ', 'thought', drawing), EMPTY] : [drawThought(entry.text, drawing)];
    case 'call':
      return [drawCall(entry, drawing), ...(isUnfolded ? drawInput(entry, drawing) : [])];
    case 'note':
      return drawLines(
        entry,
        `${entry.isFailure ? drawing.glyphs.failed : drawing.glyphs.retry} `,
        entry.isFailure ? 'failed' : 'retry',
        drawing,
      );
  }
}

const EMPTY: Row = { left: [], right: [] };

/** Caches wrapped lines: most entries have not changed since the last redraw. */
const wrapped = new WeakMap<
  Entry,
  { readonly text: string; readonly width: number; readonly lines: readonly string[] }
>();

function drawLines(
  entry: Entry & { readonly text: string },
  before: string,
  style: Style,
  { width }: WatchDrawing,
): Row[] {
  return wrapOnce(entry, Math.max(1, width - 2 - before.length)).map((line, index): Row => {
    const start = index === 0 ? before : ' '.repeat(before.length);
    return { left: [span(`${start}${line}`, style)], right: [] };
  });
}

function wrapOnce(entry: Entry & { readonly text: string }, width: number): readonly string[] {
  const { text } = entry;
  const known = wrapped.get(entry);
  if (known?.text === text && known.width === width) return known.lines;
  const lines = wrapText(cleanText(text).trimEnd(), width);
  wrapped.set(entry, { text, width, lines });
  return lines;
}

function drawThought(text: string, { glyphs, width }: WatchDrawing): Row {
  const line = cleanLine(cutTextStart(text, 2 * width));
  return {
    left: [span(`${glyphs.thought} `, 'thinking'), span(cutText(line, width), 'thought')],
    right: [span(`thought, ${formatCount(text.length)} characters`, 'dim')],
  };
}

type Call = Extract<Entry, { type: 'call' }>;

function drawCall({ tool, input, state, durationMs, error, startedAt }: Call, { glyphs, nowMs }: WatchDrawing): Row {
  const [sign, style] = (
    {
      asked: [glyphs.needsYou, 'attention'],
      running: [glyphs.tool, 'tool'],
      ok: [glyphs.done, 'ok'],
      failed: [glyphs.failed, 'failed'],
      denied: [glyphs.stopped, 'attention'],
    } as const
  )[state];
  const took = durationMs ?? (state === 'running' && startedAt !== null ? nowMs - startedAt : undefined);
  const said = error === null ? toInputLine(input) : `${toInputLine(input)}  ${cleanLine(error)}`;
  return {
    left: [span(`${sign} `, style), span(cleanLine(tool), 'bold'), span(`  ${said}`, 'dim')],
    right: [span(took === undefined ? (state === 'denied' ? 'denied' : '') : formatSpan(took), 'dim')],
  };
}

function drawInput({ input, error }: Call, drawing: WatchDrawing): Row[] {
  const lines = toInputLines(input, drawing.width - 6, limits.inputRowsMax);
  const failure = error === null ? [] : wrapText(cleanText(error), drawing.width - 6);
  return [
    ...lines.map((line): Row => ({ left: [span(`    ${line}`, 'dim')], right: [] })),
    ...failure.map((line): Row => ({ left: [span(`    ${line}`, 'failed')], right: [] })),
  ];
}
