import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import type { RunRecord } from '../../frames/record-data.ts';
import { createLog } from '../../log/log.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { newSession } from '../../store/suite/samples.suite.ts';
import { createRunFinder } from './find-run.ts';

it('[V89] a cancel waits for the end of the run, at most for its limit', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const log = createLog({ store });
  const turn = { streamId: 0, depth: 0, run: 'req_1' };
  const frame = (type: string, payload: object) => ({ threadId: null, turn, time: clock.now(), type, payload });
  await log.append({ type: 'create', session: newSession('sesn_1'), frames: [frame('run.started', {})], changes: [] });
  const lease = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'test', ttlMs: 60_000 });
  const finder = createRunFinder({ store, log, schedule });
  const session = (await store.sessions.get('w1', 'sesn_1'))!;
  const run: RunRecord = { id: 'req_1', started_at: 0, ended_at: null, state: 'running', agent_name: '', message: '' };
  let isOver = false;
  const waiting = finder.waitForEnd({ session, run }, httpLimits.cancelWaitMs).then(() => (isOver = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  advance(httpLimits.cancelWaitMs - 1);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(isOver).toBe(false);
  advance(1);
  await waiting;

  const ending = finder.waitForEnd({ session, run }, httpLimits.cancelWaitMs);
  const fence = lease.ok ? lease.fence : 0;
  await log.append({ type: 'append', sessionId: 'sesn_1', fence, frames: [frame('run.ended', {})], changes: [] });
  await ending;
  await log.close();
  await store.close();
});
