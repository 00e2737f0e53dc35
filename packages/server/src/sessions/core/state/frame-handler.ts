import type { FramePayloads, FrameType, NewSessionFrame } from '../../../frames/frames.ts';
import { primaryOf, type SessionState, type ThreadState, threadOf } from './state.ts';

/** Folds a frame of one type into the state. */
export type FrameHandler<Type extends FrameType> = (
  state: SessionState,
  payload: FramePayloads[Type],
  frame: NewSessionFrame,
) => void;

/** The handlers of frames by type. Frames without a handler do not change the state. */
export type FrameHandlers = { readonly [Type in FrameType]?: FrameHandler<Type> };

/** A handler for frames that belong to one thread. */
export function onThread<Type extends FrameType>(
  apply: (thread: ThreadState, payload: FramePayloads[Type], frame: NewSessionFrame) => void,
): FrameHandler<Type> {
  return (state, payload, frame) => {
    const thread = threadOf(state, frame.threadId!);
    thread.updatedAt = frame.time;
    apply(thread, payload, frame);
  };
}

/** A handler for frames about a program. One without a thread is about the program of the session's own agent. */
export function onProgram<Type extends FrameType>(
  apply: (root: ThreadState, payload: FramePayloads[Type], frame: NewSessionFrame) => void,
): FrameHandler<Type> {
  return (state, payload, frame) => {
    const root = frame.threadId === null ? primaryOf(state) : threadOf(state, frame.threadId);
    apply(root, payload, frame);
  };
}
