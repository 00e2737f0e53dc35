import { growBlock, sameIdentity, textOf } from '../memory/block.ts';
import { identifier, text } from '../base/check.ts';
import { cover, deltaType, SaidLine, toWireBlock } from '../content/content-tracker.ts';
import type { KnownMessage } from '../memory/message-memory.ts';
import type { StreamJsonMessage, WireBlock } from '../wire/messages.ts';
import type { Thread } from '../threads/threads.ts';
import type { TranslatorState } from '../translator/translator-state.ts';

/** An assistant line of which only the end is given. */
export interface Tail {
  message: StreamJsonMessage;
  /** The blocks behind the first `known`. */
  blocks: WireBlock[];
  /** Blocks that are proven to be those of the line before. */
  known: number;
  /** Whether the first given block is the last one of the line before, with only the new part of its text. */
  grown: boolean;
}

/** The result of the translator for a line: its message, and the line of its agent that last changed the message. */
export interface LastSaid {
  message: KnownMessage;
  line: number;
}

/** The result for the line just translated, if its blocks are the whole message. */
export function lastSaid(state: TranslatorState, line: StreamJsonMessage): LastSaid | undefined {
  const { thread, message } = find(state, line);
  // A line that was seen before has not touched its message.
  if (!message || !isPlainLine(line) || message.lastLine !== thread?.memory.lines) return undefined;
  // A value that is not a block is reported again by every line.
  const content = line.message?.content;
  if (!Array.isArray(content) || !content.every(toWireBlock)) return undefined;
  return { message, line: message.lastLine };
}

/**
 * Emits the same events as for the whole line. Returns false without any change if its message is not as the line before left it, or
 * the line has other relevant fields: then the whole line must be translated.
 */
export function translateTail(state: TranslatorState, tail: Tail, before: LastSaid): boolean {
  const { sink, threads, content, turns } = state;
  const { message: line } = tail;
  const { thread, message } = find(state, line);
  if (!thread || !message || message !== before.message || message.lastLine !== before.line) return false;
  if (!isPlainLine(line) || !fits(message, tail)) return false;
  if (content.dialect !== 'snapshots' && line.uuid !== undefined) return false;
  sink.ts = text(line.timestamp);
  if (threads.freshLine(line)) say(state, thread, message, tail);
  turns.state.sessionId ??= identifier(line.session_id);
  return true;
}

function find({ threads }: TranslatorState, line: StreamJsonMessage): { thread?: Thread; message?: KnownMessage } {
  const callId = identifier(line.parent_tool_use_id);
  const thread = callId ? threads.registry.byCall.get(callId) : threads.main;
  const id = identifier(line.message?.id);
  const message = id ? thread?.memory.peek(id) : undefined;
  return thread && message ? { thread, message } : {};
}

/** Whether a line has only blocks and none of the other fields that are read, which are rare. */
function isPlainLine(line: StreamJsonMessage): boolean {
  return (
    line.type === 'assistant' &&
    line.agent_id === undefined &&
    line.aborted !== true &&
    line.supersedes === undefined &&
    line.retracted_message_uuids === undefined
  );
}

function fits(message: KnownMessage, { blocks, known, grown }: Tail): boolean {
  if (message.streamed || message.blocks.length !== known + (grown ? 1 : 0)) return false;
  if (!blocks.every(toWireBlock)) return false;
  const [first] = blocks;
  const last = message.blocks[known];
  return !grown || (first !== undefined && textOf(first) !== undefined && !!last && sameIdentity(last, first));
}

function say({ sink, content }: TranslatorState, thread: Thread, message: KnownMessage, tail: Tail): void {
  const { message: line, blocks, known, grown } = tail;
  const { id, forgotten } = message;
  thread.memory.message(id as string, true); // found by its id
  const said = new SaidLine(thread, line, id);
  said.from = forgotten;
  said.to = forgotten + known;
  if (known + blocks.length >= 2) content.dialect = 'snapshots';
  blocks.forEach((wire, i) => {
    const last = grown && i === 0 ? message.blocks[known] : undefined;
    if (!last) return content.append(message, wire, said);
    cover(said, last.number);
    const suffix = textOf(wire) ?? '';
    if (suffix === '') return;
    growBlock(last, suffix);
    sink.say(thread, deltaType(last.kind), id, last.number, suffix);
  });
  content.remember(said);
}
