import type { InputBlock } from '../../../base/content.ts';
import type { Decision } from '../../../engines/program/program.ts';
import type { FramePayloads, NewSessionFrame } from '../../../frames/frames.ts';
import { toSystemNote } from '../../core/state/fold-thread.ts';
import type { ThreadState } from '../../core/state/state.ts';

/** The decision about a tool call, as a program receives it. */
export function toDecision(decided: FramePayloads['user.tool_confirmation']): Decision {
  if (decided.result === 'allow') return { type: 'allow', updatedInput: decided.updated_input };
  const message = decided.deny_message ?? 'The user refused this call.';
  return { type: 'deny', message, isInterrupting: decided.interrupt === true };
}

/** Messages that are sent at once are one prompt of the program, with the id of the first. */
export function toMessageId(frames: readonly NewSessionFrame[]): string | undefined {
  const first = frames.find(({ type, payload }) => type === 'user.message' && payload.is_processed);
  return first?.type === 'user.message' ? first.payload.id : undefined;
}

/** The content of a message that the program of a thread receives. */
export function toSaid({ type, payload }: NewSessionFrame, { parentId }: ThreadState): readonly InputBlock[] {
  if (type === 'turn.took') return payload.content ?? [];
  if (!('is_processed' in payload) || !payload.is_processed) return [];
  if (type === 'user.message') return payload.content;
  if (type === 'system.message') return toSystemNote(payload.content);
  // Reports of its sub-agents are delivered by the program.
  return type === 'agent.thread_message_received' && payload.from_session_thread_id === parentId ? payload.content : [];
}
