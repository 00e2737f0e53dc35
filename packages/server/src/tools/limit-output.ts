import type { Clock } from '../base/clock.ts';
import type { ResultBlock, TextBlock } from '../base/content.ts';
import { inSlices } from '../base/in-slices.ts';
import type { ToolContext, ToolResult } from './tool.ts';
import { ToolFailure } from './tool-failure.ts';
import type { ToolLimits } from './tool-limits.ts';

export interface LimitOutputOptions {
  /** Writes a text to a new file of the workspace, and returns its path. */
  readonly keep: (name: string, text: string, context: ToolContext) => Promise<string>;
  readonly clock: Clock;
  readonly limits: ToolLimits;
}

/** Shortens a large result, and stores the whole text in a file of the workspace. */
export type LimitOutput = (toolName: string, result: ToolResult, context: ToolContext) => Promise<ToolResult>;

/**
 * Creates the filter of all results: text that is too long for a model is saved to a file of the workspace, and the model receives
 * its beginning, its end and the path of the file. Characters that a store or a model would reject are replaced.
 */
export function createLimitOutput({ keep, clock, limits }: LimitOutputOptions): LimitOutput {
  const { toolTextCharsMax, toolPreviewChars, toolImageCharsMax } = limits;
  return async (toolName, { content, isError }, context) => {
    const cleaned: ResultBlock[] = [];
    for (const block of content) cleaned.push(await cleanBlock(block));
    const blocks = cleaned.map((block) => refuseLargeImage(block, toolImageCharsMax));
    const texts = blocks.filter((block) => block.type === 'text').map(({ text }) => text);
    const chars = texts.reduce((sum, { length }) => sum + length, 0);
    if (chars <= toolTextCharsMax) return { content: blocks, isError };
    const whole = texts.join('\n');
    const where = await keepWhole(toolName, whole, context);
    const preview = `${where}\n\n${toPreview(whole, toolPreviewChars)}`;
    return { content: [{ type: 'text', text: preview }, ...blocks.filter(({ type }) => type !== 'text')], isError };
  };

  async function keepWhole(toolName: string, text: string, context: ToolContext): Promise<string> {
    const size = `The output has ${text.length} characters`;
    try {
      const path = await keep(`${toolName.slice(0, 64)}-${clock.now()}`, text, context);
      return `${size}. It was written to ${path}: read it in parts with view_range, or search it with grep. Beginning and end:`;
    } catch (error) {
      const reason = error instanceof ToolFailure ? error.message : String(error);
      return `${size}, and could not be written to a file (${reason}). Only beginning and end are left:`;
    }
  }
}

/** Replaces text that is rejected elsewhere: empty text by the Messages API, unpaired surrogates by JSON, and NUL by some databases. */
async function cleanBlock(block: ResultBlock): Promise<ResultBlock> {
  if (block.type !== 'text') return block;
  const text = block.text.length <= PIECE_CHARS ? clean(block.text) : await inSlices(cleanInPieces(block.text));
  return { type: 'text', text: text === '' ? '(empty)' : text };
}

/** Cleans a text in slices: replacing ten megabytes can take most of a second. */
function* cleanInPieces(text: string): Generator<void, string> {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = Math.min(text.length, at + PIECE_CHARS);
    // Keeps both halves of a surrogate pair in one piece.
    const next = end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!) ? end + 1 : end;
    pieces.push(clean(text.slice(at, next)));
    at = next;
    yield;
  }
  return pieces.join('');
}

const PIECE_CHARS = 16 * 1024;

function clean(text: string): string {
  return text.replace(UNFIT, '\ufffd');
}

// oxlint-disable-next-line no-control-regex -- NUL is one of the characters to replace
const UNFIT = /\u0000|\p{Surrogate}/gu;

function refuseLargeImage(block: ResultBlock, charsMax: number): ResultBlock {
  if (block.type === 'text' || typeof block.source === 'string') return block;
  const data = block.source['data'];
  if (typeof data !== 'string' || data.length <= charsMax) return block;
  const text: TextBlock = {
    type: 'text',
    text: `(left out: ${block.type} of ${data.length} characters in base64, too large)`,
  };
  return text;
}

function toPreview(text: string, chars: number): string {
  const half = Math.floor(chars / 2);
  // Drops half of a surrogate pair at the cut.
  const begin = text.slice(0, half).replace(/\p{Surrogate}$/u, '');
  const end = text.slice(-half).replace(/^\p{Surrogate}/u, '');
  return `${begin}\n\n[… ${text.length - begin.length - end.length} characters …]\n\n${end}`;
}
