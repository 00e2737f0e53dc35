import { expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { baseLimits } from '../../base/limits.ts';
import { sessionLimits } from '../core/limits.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { sendEvents } from './send-events.ts';

it('[K44] long events to several sessions are committed in turns of their own, short ones at once', async () => {
  expect(sessionLimits.sendAtOnceBytesMax).toBe(64 * 1024);
  const long = await sendToMany('x'.repeat(sessionLimits.sendAtOnceBytesMax));
  expect(new Set(long).size).toBe(SESSIONS);
  const short = await sendToMany('x');
  expect(new Set(short).size).toBe(1);
});

const SESSIONS = 5;

/** The turns of the event loop in which the messages were committed. */
async function sendToMany(text: string): Promise<number[]> {
  // The turn of what ran before is over.
  await new Promise((resolve) => setTimeout(resolve, 10));
  const committed: number[] = [];
  let [turn, isDone] = [0, false];
  const count = () => void (isDone || (turn++, setImmediate(count)));
  setImmediate(count);
  const commit = async () => {
    committed.push(turn);
    const end = performance.now() + 2 * baseLimits.loopSliceMs;
    while (performance.now() < end) continue;
    return [{ ok: true, firstSeq: 1, lastSeq: 1 }];
  };
  // Only what sending a message needs of them.
  const store = { commit, inputs: { bytes: async () => 0 } } as unknown as Store;
  const data = { primary_thread_id: 'sthr_1', environment_type: 'cloud', stop: { reason: { type: 'end_turn' } } };
  const session = { id: 'sesn_1', archivedAt: null, status: 'idle', data } as unknown as SessionRecord;
  const events = [{ type: 'user.message' as const, content: [{ type: 'text' as const, text }] }];
  const request = {
    store,
    clock: systemClock,
    ids: createIds({ now: () => systemClock.now(), random: () => 0.5 }),
    session,
    events,
  };
  await Promise.all(Array.from({ length: SESSIONS }, () => sendEvents(request)));
  isDone = true;
  return committed;
}
