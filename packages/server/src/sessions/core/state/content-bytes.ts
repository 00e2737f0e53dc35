import { jsonBytesAtLeast } from '../../../base/json/json-bytes.ts';
import type { Message } from '../../../base/content.ts';
import type { Call, SessionState, ThreadState } from './state.ts';

/**
 * Bytes of the content that a session keeps in memory: histories, inboxes, and open calls with their results. They are counted
 * by the lengths of their texts, so a character that takes several bytes counts as one.
 */
export function contentBytesOf({ threads }: Pick<SessionState, 'threads'>): number {
  let bytes = 0;
  for (const thread of threads.values()) bytes += bytesOfThread(thread);
  return bytes;
}

function bytesOfThread({ history, inbox, blocks, calls }: ThreadState): number {
  let bytes = bytesOfHistory(history) + jsonBytesAtLeast(blocks);
  for (const waiting of inbox) bytes += jsonBytesAtLeast(waiting.content);
  for (const call of calls.values()) bytes += bytesOfCall(call);
  return bytes;
}

/** A history only grows until it is replaced by another list, so only what was added since the last count is counted. */
function bytesOfHistory(history: readonly Message[]): number {
  const counted = counts.get(history) ?? { messages: 0, bytes: 0 };
  for (; counted.messages < history.length; counted.messages++) {
    counted.bytes += jsonBytesAtLeast(history[counted.messages]);
  }
  counts.set(history, counted);
  return counted.bytes;
}

const counts = new WeakMap<readonly Message[], { messages: number; bytes: number }>();

function bytesOfCall({ input, progress, answers }: Call): number {
  let bytes = jsonBytesAtLeast(input) + (progress.type === 'done' ? jsonBytesAtLeast(progress.content) : 0);
  for (const { content } of answers.values()) bytes += jsonBytesAtLeast(content);
  return bytes;
}
