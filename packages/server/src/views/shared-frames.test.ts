import { expect, it } from 'vitest';
import { seed } from '../../../../test/support/seed.ts';
import { type SessionFrame, toSessionFrame } from '../frames/frames.ts';
import { runRandomFleet } from '../sessions/suite/random-run.suite.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { StoredFrame } from '../store/frame.ts';
import type { Store } from '../store/store.ts';
import { encodeEvents } from './fleet/encoded-event.ts';
import { FleetView } from './fleet/fleet-view.ts';
import { toEvent } from './managed-agents/to-event.ts';

const GATES = ['strict', 'live', 'off'] as const;

// A commit hands the same frames to all live readers; a replay reads its own copies. If a view changed a frame, a live stream
// would differ from its replay.
it('[P202] views of the frames of a commit change nothing in them, and give what they give of frames that were read again', async () => {
  console.log(`FLEETLOOM_SEED=${seed}`);
  await runRandomFleet(
    seed,
    ({ clock }) => createMemoryStore({ clock }),
    async (store, sessionIds) => {
      for (const sessionId of sessionIds) {
        const shared = (await readFrames(store, sessionId)).map(deepFreeze);
        for (const gate of GATES) {
          const again = await readFrames(store, sessionId);
          expect(showFleet(shared, gate)).toEqual(showFleet(again, gate));
        }
        for (const threadId of new Set(shared.map((frame) => frame.threadId).filter((id) => id !== null))) {
          const place = { primaryId: shared.find((frame) => frame.threadId !== null)!.threadId!, threadId };
          const again = await readFrames(store, sessionId);
          const show = (frames: readonly SessionFrame[]) => frames.map((frame) => toEvent(frame, place));
          expect(show(shared)).toEqual(show(again));
        }
      }
      expect(sessionIds.length).toBeGreaterThan(0);
    },
  );
});

async function readFrames(store: Store, sessionId: string): Promise<SessionFrame[]> {
  const entries = await store.read({ sessionId, after: 0, entriesMax: Infinity, bytesMax: Infinity });
  return entries.flatMap((entry) =>
    entry.kind === 'frame' ? [toSessionFrame(new StoredFrame(sessionId, entry.seq, entry.bytes).value)] : [],
  );
}

function showFleet(frames: readonly SessionFrame[], gate: (typeof GATES)[number]): string[] {
  const view = new FleetView({ gate, includeThinking: true });
  return frames.flatMap((frame) => encodeEvents(frame, view.take(frame)).map(({ bytes }) => bytes.toString()));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
