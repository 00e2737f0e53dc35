import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEvents } from './catch-up.ts';
import { drain } from './catch-up-servers.ts';
import { openAt } from './growth.ts';
import { type LongRun, openLongRun } from './long-run.ts';
import { measureBarePaced, measurePaced } from './paced-sessions.ts';
import { DELTA } from './sessions-fleet.ts';

let run: LongRun;
beforeAll(async () => {
  run = await openLongRun({ deltas: 5_000, agents: 4, isEnded: true });
});
afterAll(() => run.close());

describe('what the benches of long runs measure', () => {
  it('[X6] a catch-up has every delta of every agent once and in order, to the end of the run', async () => {
    const events = (await readEvents(run)).map((data) => JSON.parse(data) as Record<string, unknown>);
    const texts = events.filter(({ delta }) => delta === DELTA);
    expect(texts.map(({ thread_id }) => thread_id)).toEqual(
      Array.from({ length: 5_000 }, (_, index) => `sthr_${index % 4}`),
    );
    expect(events.at(-1)).toMatchObject({ ok: true, request_id: 'req_01bench' });
    const bytes = await drain(run.port, `/v1/sessions/${run.sessionId}/fleet?follow=false`);
    expect(bytes).toBeGreaterThan(5_000 * DELTA.length);
  });

  it('[X6] a stream that is opened behind a frame begins with the next one', async () => {
    const { id, tookMs } = await openAt(run, 3_000);
    expect(id).toBe('3001');
    expect(tookMs).toBeGreaterThan(0);
  });

  it.each([
    ['a server', measurePaced],
    ['the bare floor', measureBarePaced],
  ])('[X6] every delta of paced sessions reaches its reader at %s, with its delay', async (_, measure) => {
    const { stamps, delaysMs, cores } = await measure({ sessions: 3, perSecond: 100, seconds: 1 });
    expect(stamps).toBe(3 * 100);
    expect(delaysMs.length).toBeGreaterThan(100);
    expect(Math.min(...delaysMs)).toBeGreaterThan(0);
    expect(cores).toBeGreaterThan(0);
  });
});
