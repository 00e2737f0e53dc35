import type { Json, JsonObject } from '../../base/json.ts';
import type { InputBlock, Message, ResultBlock, ToolResultBlock } from '../../base/content.ts';
import type { Engine } from '../../engines/engine.ts';
import type { ProgramEngine } from '../../engines/program.ts';
import type { FileStore } from './file-store.ts';

/**
 * Files are in the log by their ids, so that it stays small. Models are shown their content, which is put in when they
 * are asked.
 */
export function showFiles(engine: Engine, files: Pick<FileStore, 'read'>): Engine {
  return {
    request: async function* (request, signal) {
      const messages = await Promise.all(request.messages.map((message) => showInMessage(message, files)));
      yield* engine.request({ ...request, messages }, signal);
    },
    close: () => engine.close(),
  };
}

/** The same for programs: what is said to them, and what clients give them as results. */
export function showFilesToPrograms(engine: ProgramEngine, files: Pick<FileStore, 'read'>): ProgramEngine {
  return {
    ...engine,
    open: async (options) => {
      const program = await engine.open(options);
      return {
        ...program,
        say: (content) => {
          if (!content.some(hasFile)) return program.say(content);
          void Promise.all(content.map((block) => showInBlock(block, files))).then((shown) => program.say(shown));
        },
        giveResult: (callId, { content, isError }) => {
          if (!content.some(hasFile)) return program.giveResult(callId, { content, isError });
          void Promise.all(content.map((block) => showInBlock(block, files))).then((shown) =>
            program.giveResult(callId, { content: shown, isError }),
          );
        },
      };
    },
  };
}

async function showInMessage(message: Message, files: Pick<FileStore, 'read'>): Promise<Message> {
  if (message.role === 'assistant' || !message.content.some(hasFile)) return message;
  return { ...message, content: await Promise.all(message.content.map((block) => showInBlock(block, files))) };
}

async function showInBlock<Block extends InputBlock | ResultBlock | ToolResultBlock>(
  block: Block,
  files: Pick<FileStore, 'read'>,
): Promise<Block | InputBlock> {
  if (block.type === 'tool_result') {
    return { ...block, content: await Promise.all(block.content.map((part) => showInBlock(part, files))) };
  }
  const id = fileIdOf(block);
  if (id === undefined) return block;
  const file = await files.read(id);
  // It was there when it was sent. What is known of it is better than a request that fails forever.
  if (file === undefined) return { type: 'text', text: `[The file ${id} was deleted.]` };
  const { mime_type: type } = file.metadata;
  const isText = block.type === 'document' && type !== 'application/pdf';
  const source: JsonObject = isText
    ? { type: 'text', media_type: 'text/plain', data: file.content.toString('utf8') }
    : { type: 'base64', media_type: type, data: file.content.toString('base64') };
  return { ...block, source };
}

function hasFile(block: InputBlock | ResultBlock | ToolResultBlock): boolean {
  return block.type === 'tool_result' ? block.content.some(hasFile) : fileIdOf(block) !== undefined;
}

/** The file that a block refers to. */
export function fileIdOf(block: { readonly type: string; readonly source?: unknown }): string | undefined {
  const { source } = block;
  // What is in the log was checked at the door.
  const id = typeof source === 'object' && source !== null ? (source as { file_id?: Json }).file_id : undefined;
  return typeof id === 'string' ? id : undefined;
}
