import type { Clock } from '../base/clock.ts';
import type { ResultBlock, TextBlock } from '../base/content.ts';
import type { WorkspaceFiles } from './files/workspace-files.ts';
import type { ToolContext, ToolResult } from './tool.ts';
import { ToolFailure } from './tool-failure.ts';
import type { ToolLimits } from './tool-limits.ts';

export interface KeepOutputOptions {
  readonly files: WorkspaceFiles;
  readonly clock: Clock;
  readonly limits: ToolLimits;
}

export type KeepOutput = (toolName: string, result: ToolResult, context: ToolContext) => Promise<ToolResult>;

/**
 * What every result goes through: text that is too long for a model goes to a file of the workspace, and the model is
 * told its beginning, its end and where the whole is. Text is made such that every store and every model takes it.
 */
export function createKeepOutput({ files, clock, limits }: KeepOutputOptions): KeepOutput {
  const { toolTextCharsMax, toolPreviewChars, toolImageCharsMax } = limits;
  return async (toolName, { content, isError }, context) => {
    const blocks = content.map((block) => cleanBlock(block)).map((block) => refuseLargeImage(block, toolImageCharsMax));
    const texts = blocks.filter((block) => block.type === 'text').map(({ text }) => text);
    const chars = texts.reduce((sum, { length }) => sum + length, 0);
    if (chars <= toolTextCharsMax) return { content: blocks, isError };
    const whole = texts.join('\n');
    const where = await keep(toolName, whole, context);
    const preview = `${where}\n\n${toPreview(whole, toolPreviewChars)}`;
    return { content: [{ type: 'text', text: preview }, ...blocks.filter(({ type }) => type !== 'text')], isError };
  };

  async function keep(toolName: string, text: string, { openWorkspace }: ToolContext): Promise<string> {
    const size = `The output has ${text.length} characters`;
    try {
      const path = await createFile(await openWorkspace(), toolName, text);
      return `${size}. It was written to ${path}: read it in parts with view_range, or search it with grep. Beginning and end:`;
    } catch (error) {
      const reason = error instanceof ToolFailure ? error.message : String(error);
      return `${size}, and could not be written to a file (${reason}). Only beginning and end are left:`;
    }
  }

  async function createFile(workspace: string, toolName: string, text: string): Promise<string> {
    // So that version control of the workspace does not see them.
    await files.create(workspace, `${DIRECTORY}/.gitignore`, '*\n');
    const name = `${DIRECTORY}/${toolName.slice(0, 64)}-${clock.now()}`;
    for (let count = 0; count < NAMES_MAX; count++) {
      const path = count === 0 ? `${name}.txt` : `${name}-${count}.txt`;
      if ((await files.create(workspace, path, text)) === 'created') return path;
    }
    throw new ToolFailure(`${name} and its like are all taken`);
  }
}

const DIRECTORY = '.fleetloom/outputs';
const NAMES_MAX = 1_000;

/** An empty text is refused by the Messages API, half of a pair of surrogates by JSON, and NUL by some databases. */
function cleanBlock(block: ResultBlock): ResultBlock {
  if (block.type !== 'text') return block;
  const text = block.text.replace(UNFIT, '\ufffd');
  return { type: 'text', text: text === '' ? '(empty)' : text };
}

// oxlint-disable-next-line no-control-regex -- NUL is one of those that do not fit
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
  // Cut between the halves of a pair it would be no text.
  const begin = text.slice(0, half).replace(/\p{Surrogate}$/u, '');
  const end = text.slice(-half).replace(/^\p{Surrogate}/u, '');
  return `${begin}\n\n[… ${text.length - begin.length - end.length} characters …]\n\n${end}`;
}
