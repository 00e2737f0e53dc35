import type { SessionsChanged } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { encodeFrame } from '../../store/frame.ts';
import type { SessionSummary } from '../../store/summaries.ts';
import { commitOne } from '../../store/write.ts';
import { viewLimits } from '../limits.ts';
import { addManySessions } from './many-sessions.suite.ts';
import { SessionChanges } from './session-changes.ts';

const start = Date.UTC(2026, 0, 1);
const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

async function open(count: number, options: { readonly knownRowsMax?: number } = {}) {
  const clock = createManualClock(start);
  const { schedule, advance, waiting } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  await addManySessions(store, { workspaceId: 'w1', count, now: start });
  const errors: unknown[] = [];
  const changes = new SessionChanges({ ...options, store, clock, schedule, onError: (error) => errors.push(error) });
  const seen: Pick<SessionsChanged, 'sessions' | 'counts'>[] = [];
  const leave = changes.subscribe('w1', (bytes) => {
    const text = Buffer.from(bytes).toString();
    expect(text).not.toMatch(/^id:/m);
    seen.push(JSON.parse(/^data: (.*)$/m.exec(text)![1]!) as SessionsChanged);
  });
  const list = { now: start, includesArchived: true, sort: 'activity', order: 'desc', limit: 1_000 } as const;
  const { items } = await store.summaries.list({ workspaceId: 'w1', ...list });
  await settled();
  const touch = async (n: number, patch: Partial<SessionSummary> | null) => {
    const { sessionId, ...summary } = items[n]!;
    const lease = await store.leases.acquire({ sessionId, owner: 'a', ttlMs: 1_000 });
    const frame = encodeFrame({ threadId: null, turn: null, time: clock.now(), type: 'delta.text', payload: {} });
    const changed = { type: 'put_summary', summary: { search: '', ...summary, ...patch } } as const;
    const write = { type: 'append', sessionId, fence: lease.ok ? lease.fence : 0, frames: [frame] } as const;
    await commitOne(store, { ...write, changes: patch === null ? [] : [changed] });
    await store.leases.release({ sessionId, fence: lease.ok ? lease.fence : 0 });
    await settled();
  };
  const pass = async (ms: number) => {
    advance(ms);
    for (let turn = 0; turn < 5; turn++) await settled();
  };
  return { seen, touch, pass, leave, waiting, errors, items };
}

it('[V190] changes of half a second are one event, and frames that change no row emit nothing', async () => {
  const { seen, touch, pass, leave, errors } = await open(4);
  await touch(0, { state: 'failed' });
  await touch(1, { activityAt: start + 1 });
  await pass(viewLimits.sessionChangesMs - 1);
  expect(seen).toEqual([]);
  await pass(1);
  expect(seen).toMatchObject([{ sessions: [{ state: 'failed' }, {}], counts: { failed: 2, done: 1, running: 1 } }]);
  await touch(0, null);
  await pass(viewLimits.sessionChangesMs);
  expect(seen).toHaveLength(1);
  leave();
  await touch(0, { state: 'done' });
  await pass(viewLimits.sessionChangesMs);
  expect(seen).toHaveLength(1);
  expect(errors).toEqual([]);
});

it('[V190] a session that becomes stalled is a change, although no frame says so', async () => {
  const { seen, pass, leave, waiting } = await open(3);
  // The third session is running, and stalls an hour after the start.
  await pass(3_600_000 - 1);
  expect(seen).toEqual([]);
  await pass(1);
  await pass(viewLimits.sessionChangesMs);
  expect(seen).toMatchObject([{ sessions: [{ state: 'stalled' }], counts: { stalled: 1, running: 0 } }]);
  leave();
  expect(waiting()).toBe(0);
});

it('[V190] an event has at most 200 rows, and the rest follows in the next one', async () => {
  const { seen, touch, pass, leave } = await open(viewLimits.changedRowsMax + 1);
  for (let n = 0; n <= viewLimits.changedRowsMax; n++) await touch(n, { tokens: 7 });
  await pass(viewLimits.sessionChangesMs);
  await pass(viewLimits.sessionChangesMs);
  expect(seen.map(({ sessions }) => sessions.length)).toEqual([viewLimits.changedRowsMax, 1]);
  leave();
});

it('[V190] a bounded number of rows is remembered: one that was forgotten is emitted again, although it did not change', async () => {
  const { seen, touch, pass, leave } = await open(3, { knownRowsMax: 2 });
  expect(viewLimits.knownRowsMax).toBeGreaterThan(2);
  for (const n of [0, 1, 2]) await touch(n, { tokens: 7 });
  await pass(viewLimits.sessionChangesMs);
  for (const n of [1, 2]) await touch(n, null);
  await pass(viewLimits.sessionChangesMs);
  expect(seen.map(({ sessions }) => sessions.length)).toEqual([3]);
  await touch(0, null);
  await pass(viewLimits.sessionChangesMs);
  expect(seen.map(({ sessions }) => sessions.length)).toEqual([3, 1]);
  leave();
});
