import { request as sendRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../../../test/support/seed.ts';
import { limits } from './base/limits.ts';
import { measure, openSizeServer, type SizeServer, seedRun, seedShortRuns } from './size.suite.ts';
import { FLEET_CHECKPOINT } from './views/fleet/view-checkpoint.ts';

/** Of the two long runs, one of which goes on. */
const FRAMES = isLong ? 1_000_000 : 60_000;
const SESSIONS = isLong ? 10_000 : 1_000;
/** 50 ms on a machine that has nothing else to do, and what collecting garbage on all cores adds to that. */
const STALL_MS = 150;
const timeout = isLong ? 600_000 : 60_000;

let server: SizeServer;
beforeAll(async () => {
  const now = Date.now();
  server = await openSizeServer(async (store) => {
    await seedRun(store, { id: 'sesn_open', frames: FRAMES, time: now - 3_600_000, isOpen: true });
    await seedRun(store, { id: 'sesn_over', frames: FRAMES, time: now - 3_600_000 });
    const ids = Array.from({ length: SESSIONS }, (_, index) => `sesn_s${index}`);
    await seedShortRuns(store, ids, now - 3_600_000);
  });
  // A run that goes on has its checkpoints written without anybody asking; one that is over, when a reader had to fold it.
  await untilKept('sesn_open', FRAMES);
  await measure(server, 'GET', `/v1/sessions/sesn_over/fleet?follow=false&after=${FRAMES - 20}`);
  await untilKept('sesn_over', FRAMES - 20);
}, timeout);
afterAll(async () => {
  await server.close();
  expect(server.problems).toEqual([]);
});

async function untilKept(sessionId: string, upTo: number): Promise<void> {
  const request = { sessionId, kind: FLEET_CHECKPOINT, upTo };
  const isKept = async () =>
    ((await server.store.checkpoints.findSeq(request))?.seq ?? 0) > upTo - 2 * limits.checkpointFrames;
  while (!(await isKept())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Until no checkpoint is being written in the background. */
async function untilQuiet(): Promise<void> {
  for (let before = -1; before !== server.entriesRead; ) {
    before = server.entriesRead;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Sends a request that must not hold the event loop, and must not read more entries than this. */
async function expectCheap(
  method: string,
  path: string,
  entriesMax: number,
  options: Parameters<typeof measure>[3] = {},
) {
  await untilQuiet();
  server.entriesRead = 0;
  const measured = await measure(server, method, path, options);
  expect([method, path, measured.status]).toEqual([method, path, 200]);
  expect(server.entriesRead, `entries read by ${method} ${path}`).toBeLessThanOrEqual(entriesMax);
  expect(measured.stallMs, `work at once of ${method} ${path}`).toBeLessThan(STALL_MS);
  return measured;
}

describe('a run of very many frames', () => {
  /** A reader folds from the nearest checkpoint to its place, and what all readers share from the newest to the end. */
  const entriesMax = 3 * limits.checkpointFrames;

  it.each(['sesn_open', 'sesn_over'])(
    '[V133] a stream on %s opens at the start, in the middle and at the end with the same bounded number of reads',
    async (id) => {
      const path = `/v1/sessions/${id}/fleet`;
      const places = [1, FRAMES / 4, FRAMES / 2 + 1, FRAMES - 1_000];
      for (const gate of ['strict', 'live', 'off']) {
        for (const after of places) {
          await expectCheap('GET', `${path}?gate=${gate}&after=${after}`, entriesMax, { bytesMax: 1_000 });
        }
      }
      await expectCheap('GET', `${path}?follow=false&after=${FRAMES - 50}`, entriesMax);
      await expectCheap('GET', `${path}?follow=false&from=live`, entriesMax);
      await expectCheap('GET', `/v1/requests/req_${id}/events?follow=false&since_seq=${FRAMES - 50}`, entriesMax);
    },
  );

  it('[V134] its events are listed in either order, and found by id, without reading its deltas', async () => {
    const path = '/v1/sessions/sesn_over/events';
    await expectCheap('GET', `${path}?limit=20&order=asc`, 4_096);
    await expectCheap('GET', `${path}?limit=20&order=desc`, 4_096);
    await expectCheap('GET', '/v1/sessions/sesn_over/threads/sthr_sesn_over/events?limit=20', 4_096);
    // Events, and a range of deltas between two of them: not even a twentieth of the frames.
    const sparse = FRAMES / 20;
    await expectCheap('GET', `${path}?limit=20&types[]=user.interrupt`, sparse);
    const headers = { 'last-event-id': 'sevt_sesn_overc1r' };
    await expectCheap('GET', `${path}/stream`, sparse, { headers, bytesMax: 1 });
  });

  it(
    '[R312] it is exported, and forked at any frame, without holding the event loop',
    async () => {
      await expectCheap('GET', '/v1/sessions/sesn_over/export', Infinity);
      await expectCheap('POST', '/v1/sessions/sesn_over/fork', FRAMES / 20, { body: {} });
      await expectCheap('POST', '/v1/sessions/sesn_over/fork', FRAMES / 20, { body: { at: String(FRAMES / 2) } });
    },
    timeout,
  );

  it('[R313] it is taken up again by reading only the frames behind its newest checkpoint', async () => {
    const body = { events: [{ type: 'user.interrupt' }] };
    await expectCheap('POST', '/v1/sessions/sesn_over/events', isLong ? FRAMES / 20 : 4_096, { body });
  });
});

describe('very many sessions', () => {
  it('[V137] sessions and runs are listed without holding the event loop', async () => {
    await expectCheap('GET', '/v1/sessions?limit=100', 0);
    await expectCheap('GET', '/v1/sessions?limit=100&statuses[]=running', 0);
    await expectCheap('GET', '/v1/requests?limit=100', 0);
    await expectCheap('GET', '/v1/sessions/sesn_over/threads', 0);
    await expectCheap('GET', '/metrics', 0);
    await expectCheap('GET', '/v1/fleet?follow=false&from=live', 4 * limits.checkpointFrames);
  });

  it(
    '[V138] the stream of all sessions delivers each of thousands of recent runs exactly once, to a fast and to a slow reader',
    async () => {
      const count = isLong ? 10_000 : 2_100;
      const ids = Array.from({ length: count }, (_, index) => `sesn_r${index}`);
      await seedShortRuns(server.store, ids, Date.now());
      const [fast, slow] = await Promise.all([readRuns(count, 0), readRuns(count, 1)]);
      for (const seen of [fast, slow]) {
        expect(seen.size).toBe(count);
        const stories = new Set([...seen.values()].map((types) => types.join(' ')));
        expect([...stories]).toEqual([
          'request_received stream_start agent_start text text text tool_start token_usage tool_call stream_end done',
        ]);
      }
    },
    timeout,
  );
});

/** The types of the events of each session, until so many runs are done, read in one go or with pauses. */
async function readRuns(count: number, pauseMs: number): Promise<Map<string, string[]>> {
  const seen = new Map<string, string[]>();
  let isWhole = () => {};
  const whole = new Promise<void>((resolve) => (isWhole = resolve));
  let [text, done] = ['', 0];
  const request = sendRequest({ port: server.server.port, path: '/v1/fleet?gate=off' }, (response) => {
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (chunk: string) => {
      text += chunk;
      const end = text.lastIndexOf('\n\n');
      if (end === -1) return;
      for (const [, type, id] of text
        .slice(0, end + 2)
        .matchAll(/event: (\w+)\ndata: .*?"session_id":"(sesn_r\d+)"/g)) {
        seen.set(id!, [...(seen.get(id!) ?? []), type!]);
        if (type === 'done') done++;
      }
      text = text.slice(end + 2);
      if (done >= count) isWhole();
      if (pauseMs === 0) return;
      response.pause();
      setTimeout(() => response.resume(), pauseMs);
    });
  });
  request.end();
  await whole;
  // What would come twice, comes now.
  await new Promise((resolve) => setTimeout(resolve, 200));
  request.destroy();
  return seen;
}
