import type { FrameType, NewSessionFrame } from '../../../frames/frames.ts';
import type { FrameHandler } from './frame-handler.ts';
import { sessionHandlers } from './session-handlers.ts';
import type { SessionState } from './state.ts';
import { turnHandlers } from './turn-handlers.ts';

/**
 * Folds one frame into the state. It makes no decisions: everything that is not in the frame follows from earlier frames.
 * Deltas and ended runs do not change the state.
 */
export function evolve(state: SessionState, frame: NewSessionFrame): void {
  // A log without its deltas must give the same state.
  if (frame.type.startsWith('delta.')) return;
  state.updatedAt = frame.time;
  const apply = handlers[frame.type] as FrameHandler<FrameType> | undefined;
  // One handler per type, so the payload is that of its type.
  apply?.(state, frame.payload, frame);
}

const handlers = { ...sessionHandlers, ...turnHandlers };
