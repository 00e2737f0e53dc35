import { jsonBytesAtLeast } from '../../../base/json/json-bytes.ts';
import { storeLimits } from '../../../store/limits.ts';
import type { ThreadState, Waiting } from '../state/state.ts';

/**
 * The messages of an inbox that are delivered at a time: up to the message that reaches `inputsTakenBytesMax`, with the system
 * message that belongs to it. The log repeats messages on delivery, in one write. The rest waits for the next turn.
 */
export function nextInboxMessages(inbox: readonly Waiting[], isForProgram = false): readonly Waiting[] {
  let bytes = 0;
  const end = inbox.findIndex(({ type, content }) => {
    if (type !== 'system.message' && bytes >= storeLimits.inputsTakenBytesMax) return true;
    // Of a message between threads only the id is repeated, except for a program.
    bytes += type === 'letter' && !isForProgram ? 0 : jsonBytesAtLeast(content);
    return false;
  });
  return end === -1 ? inbox : inbox.slice(0, end);
}

/** Messages to a running child. Its parent waits for one report, so they are delivered within the turn. */
export function steeringOf({ parentId, inbox }: ThreadState) {
  if (parentId === null) return [];
  return nextInboxMessages(inbox).flatMap((waiting) =>
    waiting.type === 'user.message' ? [{ id: waiting.id, content: waiting.content, is_processed: true }] : [],
  );
}
