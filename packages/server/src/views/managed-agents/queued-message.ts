import { toSessionFrame } from '../../frames/frames.ts';
import type { StoredFrame } from '../../store/frame.ts';

/** A message that was queued because its thread could not process it yet. */
export interface QueuedMessage {
  readonly id: string;
  readonly threadId: string | null;
}

/**
 * The message that a frame queues; undefined for every other frame. A message may have 30 MB, so a frame in the form that sessions
 * write is recognised by its first and last bytes. Only a message in another form is parsed.
 */
export function toQueuedMessage(stored: StoredFrame): QueuedMessage | undefined {
  if (!MESSAGES.has(stored.type)) return undefined;
  const head = HEAD.exec(toText(stored.bytes.subarray(0, HEAD_BYTES)));
  const tail = TAIL.exec(toText(stored.bytes.subarray(-TAIL_BYTES)));
  if (head === null || tail === null) return parse(stored);
  return tail[1] === 'true' ? undefined : { id: head[2]!, threadId: head[1] ?? null };
}

const MESSAGES: ReadonlySet<string> = new Set(['user.message', 'system.message']);

/** Thread, turn and time, the type, and a payload whose first field is the id. */
const HEAD = /^\[(?:null|"([^"\\]*)"),(?:null|\[\d+,\d+,"[^"\\]*"\]),\d+,"(?:user|system)\.message",\{"id":"([^"\\]*)"/;
const HEAD_BYTES = 1_024;
/** The last field of the payload. In a text there would be a quote before the brace. */
const TAIL = /"is_processed":(true|false)\}(?:,1)?\]$/;
const TAIL_BYTES = 32;

function parse({ value }: StoredFrame): QueuedMessage | undefined {
  const { type, threadId, payload } = toSessionFrame(value);
  const isQueued = (type === 'user.message' || type === 'system.message') && !payload.is_processed;
  return isQueued ? { id: payload.id, threadId } : undefined;
}

/** A character that is cut in the middle does not matter here. */
function toText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}
