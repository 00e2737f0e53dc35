import { setTimeout as wait } from 'node:timers/promises';
import type { InputBlock, Message, ResultBlock, ToolResultBlock } from '../base/content.ts';
import { inBackground, type Report } from '../base/in-background.ts';
import type { Json, JsonObject } from '../base/json/json.ts';
import { fileLimits } from './limits.ts';
import type { EngineFailure, ModelRequest } from '../engines/model/engine.ts';
import type { ProgramEngine } from '../engines/program/program.ts';
import { isOutOfResources } from '../base/resource-error.ts';
import type { FileStore } from './file-store.ts';

/**
 * Inserts the content of files into a model request. The log names files by id, so that it stays small. The newest
 * files are inserted first, up to the size of one request.
 */
export async function showFiles(
  request: ModelRequest,
  files: Pick<FileStore, 'read'>,
  report: Report = warn,
): Promise<ModelRequest | EngineFailure> {
  try {
    return { ...request, messages: await showInMessages(request.messages, new ShownFiles(files, report)) };
  } catch (error) {
    // Only temporary failures are thrown; other failures are shown to the model as text.
    const message = `a file could not be read: ${error instanceof Error ? error.message : String(error)}`;
    return { reason: 'request_failed', message, consequence: 'retry', retryAfterMs: null };
  }
}

/** Wraps a program engine to insert the content of files into messages and into tool results of clients. */
export function showFilesToPrograms(
  engine: ProgramEngine,
  files: Pick<FileStore, 'read'>,
  report: Report = warn,
): ProgramEngine {
  return {
    ...engine,
    open: async (options) => {
      const program = await engine.open(options);
      const inOrder = createOrder(files, report);
      return {
        ...program,
        say: (content, messageId) => inOrder(content, (shown) => program.say(shown, messageId)),
        giveResult: (callId, { content, isError }) =>
          inOrder(content, (shown) => program.giveResult(callId, { content: shown, isError })),
      };
    },
  };
}

const warn: Report = (error) => process.emitWarning(error instanceof Error ? error : String(error));

/** Passes on content with its files inserted, in order: a later message must not overtake a message whose file is still being read. */
function createOrder(files: Pick<FileStore, 'read'>, report: Report) {
  let last: Promise<void> | undefined;
  return <Block extends InputBlock | ResultBlock>(
    content: readonly Block[],
    give: (shown: readonly (Block | InputBlock)[]) => void,
  ): void => {
    if (last === undefined && !content.some(hasFile)) return give(content);
    const work = (last ?? Promise.resolve()).then(async () => give(await showPatiently(content, files, report)));
    const done = work.catch(report).then(() => {
      if (last === done) last = undefined;
    });
    last = done;
    inBackground(done, report);
  };
}

/** Inserts files, and retries temporary failures, because a program receives each message only once. */
async function showPatiently<Block extends InputBlock | ResultBlock>(
  content: readonly Block[],
  files: Pick<FileStore, 'read'>,
  report: Report,
): Promise<readonly (Block | InputBlock)[]> {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt >= fileLimits.shownFileAttemptsMax;
    try {
      return await showInBlocks(content, new ShownFiles(files, report, isLast));
    } catch (error) {
      if (isLast) throw error;
      await wait(fileLimits.shownFileRetryMs, undefined, { ref: false });
    }
  }
}

/** Reads files one after the other, within the size of one request. */
class ShownFiles {
  readonly #files: Pick<FileStore, 'read'>;
  readonly #report: Report;
  readonly #isLastAttempt: boolean;
  #bytesLeft: number = fileLimits.shownFilesBytesMax;

  constructor(files: Pick<FileStore, 'read'>, report: Report, isLastAttempt = false) {
    this.#files = files;
    this.#report = report;
    this.#isLastAttempt = isLastAttempt;
  }

  /** The file, or a text for the model that says why it is missing. Throws temporary failures, unless this is the last attempt. */
  async read(id: string): Promise<{ readonly type: string; readonly content: Buffer } | string> {
    if (this.#bytesLeft <= 0) return `[The file ${id} is left out: there is no room for more files in one request.]`;
    try {
      const file = await this.#files.read(id);
      // The file existed when the message was sent. A text instead of the file prevents the request from failing forever.
      if (file === undefined) return `[The file ${id} was deleted.]`;
      this.#bytesLeft -= file.content.length;
      return { type: file.metadata.mime_type, content: file.content };
    } catch (error) {
      if (!this.#isLastAttempt && isOutOfResources(error)) throw error;
      this.#report(error);
      return `[The file ${id} cannot be read.]`;
    }
  }
}

async function showInMessages(messages: readonly Message[], files: ShownFiles): Promise<readonly Message[]> {
  const shown: Message[] = [];
  for (const message of messages.toReversed()) shown.push(await showInMessage(message, files));
  return shown.toReversed();
}

async function showInMessage(message: Message, files: ShownFiles): Promise<Message> {
  if (message.role === 'assistant' || !message.content.some(hasFile)) return message;
  return { ...message, content: await showInBlocks(message.content, files) };
}

async function showInBlocks<Block extends InputBlock | ResultBlock | ToolResultBlock>(
  blocks: readonly Block[],
  files: ShownFiles,
): Promise<(Block | InputBlock)[]> {
  const shown: (Block | InputBlock)[] = [];
  for (const block of blocks) shown.push(hasFile(block) ? await showInBlock(block, files) : block);
  return shown;
}

async function showInBlock<Block extends InputBlock | ResultBlock | ToolResultBlock>(
  block: Block,
  files: ShownFiles,
): Promise<Block | InputBlock> {
  if (block.type === 'tool_result') return { ...block, content: await showInBlocks(block.content, files) };
  const id = fileIdOf(block);
  if (id === undefined) return block;
  const file = await files.read(id);
  if (typeof file === 'string') return { type: 'text', text: file };
  const { type, content } = file;
  const isText = block.type === 'document' && type !== 'application/pdf';
  const source: JsonObject = isText
    ? { type: 'text', media_type: 'text/plain', data: content.toString('utf8') }
    : { type: 'base64', media_type: type, data: content.toString('base64') };
  return { ...block, source };
}

function hasFile(block: InputBlock | ResultBlock | ToolResultBlock): boolean {
  return block.type === 'tool_result' ? block.content.some(hasFile) : fileIdOf(block) !== undefined;
}

/** The id of the file that a block refers to; undefined if it refers to none. */
export function fileIdOf(block: { readonly type: string; readonly source?: unknown }): string | undefined {
  const { source } = block;
  // Content of the log was checked when it was received.
  const id = typeof source === 'object' && source !== null ? (source as { file_id?: Json }).file_id : undefined;
  return typeof id === 'string' ? id : undefined;
}
