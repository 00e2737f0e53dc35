import type { FramePayloads, FrameType, NewSessionFrame } from '../frames/frames.ts';
import { type SessionState, type ThreadState, threadOf } from './state.ts';

/** What frames of a type do to the state. */
export type FrameHandler<Type extends FrameType> = (
  state: SessionState,
  payload: FramePayloads[Type],
  frame: NewSessionFrame,
) => void;

export type FrameHandlers = { readonly [Type in FrameType]?: FrameHandler<Type> };

/** Most frames belong to one thread and concern only it. */
export function onThread<Type extends FrameType>(
  apply: (thread: ThreadState, payload: FramePayloads[Type], frame: NewSessionFrame) => void,
): FrameHandler<Type> {
  return (state, payload, frame) => {
    const thread = threadOf(state, frame.threadId!);
    thread.updatedAt = frame.time;
    apply(thread, payload, frame);
  };
}
