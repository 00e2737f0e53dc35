import { growBlock, textOf } from './block.ts';
import { nonEmpty, text } from './check.ts';
import { cover, deltaType, type SaidLine } from './content-tracker.ts';
import type { KnownMessage } from './message-memory.ts';
import type { StreamJsonMessage, WireBlock } from './messages.ts';
import type { Thread } from './threads.ts';
import type { TranslatorState } from './translator.ts';

/** An assistant line of which only the end is given. */
export interface Tail {
  message: StreamJsonMessage;
  /** The blocks behind the first `known`. */
  blocks: WireBlock[];
  /** Blocks that are proven to be those of the line before. */
  known: number;
  /** The first given block is the last one of the line before, with only the new part of its text. */
  grown: boolean;
}

/**
 * The same events as for the whole line. False, with nothing done, where the translator does not remember what the line
 * before said, or the line says more than its blocks: then the whole line must be translated.
 */
export function translateTail(state: TranslatorState, tail: Tail): boolean {
  const { sink, threads, content } = state;
  const { message: line } = tail;
  const callId = nonEmpty(line.parent_tool_use_id);
  const thread = callId === undefined ? threads.main : threads.registry.byCall(callId);
  const id = nonEmpty(line.message?.id);
  const known = thread && id !== undefined ? thread.memory.peek(id) : undefined;
  if (!thread || !known || !isPlainLine(line) || !fits(known, tail)) return false;
  if (content.dialect !== 'snapshots' && line.uuid !== undefined) return false;
  sink.ts = text(line.timestamp);
  if (threads.freshLine(line)) say(state, thread, known, tail);
  return true;
}

/** Only these fields are read beside the blocks; lines that carry more are rare. */
function isPlainLine(line: StreamJsonMessage): boolean {
  return (
    line.agent_id === undefined &&
    line.aborted !== true &&
    line.supersedes === undefined &&
    line.retracted_message_uuids === undefined
  );
}

function fits(message: KnownMessage, { blocks, known, grown }: Tail): boolean {
  if (message.streamed || message.forgotten > 0 || message.blocks.length !== known + (grown ? 1 : 0)) return false;
  if (!blocks.every((block) => typeof block?.type === 'string')) return false;
  const [first] = blocks;
  return !grown || (first !== undefined && message.blocks[known]?.kind === first.type && textOf(first) !== undefined);
}

function say({ sink, content }: TranslatorState, thread: Thread, message: KnownMessage, tail: Tail): void {
  const { message: line, blocks, known, grown } = tail;
  const { id } = message;
  thread.memory.message(id as string, true); // found by its id
  const said: SaidLine = { thread, uuid: nonEmpty(line.uuid), id, error: text(line.error), from: 0, to: known };
  if (known + blocks.length >= 2) content.dialect = 'snapshots';
  blocks.forEach((wire, i) => {
    const last = grown && i === 0 ? message.blocks[known] : undefined;
    if (!last) return content.append(message, wire, said);
    cover(said, last);
    const suffix = textOf(wire) ?? '';
    if (suffix === '') return;
    growBlock(last, suffix);
    sink.delta(thread, deltaType(last.kind), id, last.number, suffix);
  });
  if (said.uuid !== undefined) content.remember(said);
}
