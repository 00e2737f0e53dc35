import type { FramePayloads, FrameType, SessionFrame } from '../../frames/frames.ts';
import { commitOne } from '../../store/write.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { encodeFrame } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';

// Frames as sessions write them, for tests of what readers see.

export const SESSION = 'sesn_1';
export const PRIMARY = 'sthr_primary';
export const CHILD = 'sthr_child';
export const TIME = Date.UTC(2026, 10, 16, 4, 0, 0, 0);
export const AT = '2026-11-16T04:00:00.000Z';

export const primaryPlace = { primaryId: PRIMARY, threadId: PRIMARY };
export const childPlace = { primaryId: PRIMARY, threadId: CHILD };

export type NewSample = { readonly threadId: string | null; readonly type: FrameType; readonly payload: object };

/** A frame of a thread; null is the session itself. */
export function sample<Type extends FrameType>(
  type: Type,
  payload: FramePayloads[Type],
  threadId: string | null = PRIMARY,
): NewSample {
  return { threadId, type, payload };
}

export function toFrame({ threadId, type, payload }: NewSample, seq = 1): SessionFrame {
  // The payload is that of its type: `sample` has seen to it.
  return { sessionId: SESSION, seq, threadId, turn: null, time: TIME, type, payload } as unknown as SessionFrame;
}

/** A store with one session whose log holds these frames, one millisecond apart. */
export async function storeWith(samples: readonly NewSample[]): Promise<Store> {
  const store = createMemoryStore();
  const frames = samples.map((each, index) => encodeFrame({ ...each, turn: null, time: TIME + index }));
  const session = {
    workspaceId: 'wrkspc_1',
    id: SESSION,
    agentId: 'agent_1',
    agentVersion: 1,
    environmentId: 'env_1',
    status: 'idle' as const,
    createdAt: TIME,
    data: {},
  };
  await commitOne(store, { type: 'create', session, frames, changes: [] });
  return store;
}
