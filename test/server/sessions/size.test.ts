import { request as sendRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../../support/seed.ts';
import { agentLimits } from '../../../packages/server/src/agents/limits.ts';
import { httpLimits } from '../../../packages/server/src/http/limits.ts';
import { logLimits } from '../../../packages/server/src/log/limits.ts';
import { measure, openSizeServer, type SizeServer, seedOpenTurns, seedRun, seedShortRuns } from './size.suite.ts';
import { FLEET_CHECKPOINT } from '../../../packages/server/src/views/fleet/view-checkpoint.ts';

/** Of the two long runs, one of which goes on. */
const FRAMES = isLong ? 1_000_000 : 60_000;
/** Of the turns that are open: 12 MB of text, or 40 MB. */
const WIDE_DELTAS = isLong ? 200_000 : 60_000;
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
    await seedOpenTurns(store, { id: 'sesn_wide', time: now - 3_600_000, turns: 16, deltas: WIDE_DELTAS, chars: 200 });
    const ids = Array.from({ length: SESSIONS }, (_, index) => `sesn_s${index}`);
    await seedShortRuns(store, ids, now - 3_600_000);
  });
  // A run that goes on has its checkpoints written without a request; one that is over, when a reader had to fold it.
  await untilKept('sesn_open', FRAMES);
  await untilKept('sesn_wide', WIDE_DELTAS);
  await measure(server, 'GET', `/v1/sessions/sesn_over/fleet?follow=false&after=${FRAMES - 20}`);
  await untilKept('sesn_over', FRAMES - 20);
  await untilSummarised();
}, timeout);
afterAll(async () => {
  await server.close();
  expect(server.problems).toEqual([]);
});

async function untilKept(sessionId: string, upTo: number): Promise<void> {
  const request = { sessionId, kind: FLEET_CHECKPOINT, upTo };
  const isKept = async () =>
    ((await server.store.checkpoints.findSeq(request))?.seq ?? 0) > upTo - 2 * logLimits.checkpointFrames;
  while (!(await isKept())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Until every session that was seeded has its summary: they are added in the background, from the logs. */
async function untilSummarised(): Promise<void> {
  while ((await server.store.summaries.findMissing(1)).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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
  const entriesMax = 3 * logLimits.checkpointFrames;

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

  it('[V170] a stream near the end of a run whose open turns hold megabytes of text opens with the same bounded number of reads', async () => {
    const path = '/v1/sessions/sesn_wide/fleet';
    for (const after of [WIDE_DELTAS / 2, WIDE_DELTAS - 1_000]) {
      await expectCheap('GET', `${path}?after=${after}`, entriesMax, { bytesMax: 1_000 });
    }
    await expectCheap('GET', `${path}?follow=false&from=live`, entriesMax);
  });

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

describe('a message of 6 MiB', () => {
  it.each([
    ['base64', 'QUJD'],
    ['lines of code', 'a line of code\n'],
    ['what is escaped', '\u0001'],
    ['text that is not Latin', '漢字'],
  ])(
    '[T61] %s is accepted, taken up, streamed and listed without holding the event loop',
    async (_, unit) => {
      const { id } = await send<{ id: string }>('POST', '/v1/sessions', await toSession());
      const room = 6 * 1024 * 1024 - 1_000;
      const text = unit.repeat(Math.floor(room / (Buffer.byteLength(JSON.stringify(unit)) - 2)));
      const body = { events: [{ type: 'user.message', content: [{ type: 'text', text }] }] };
      await expectCheap('POST', `/v1/sessions/${id}/events`, 4_096, { body });
      await expectCheap('GET', `/v1/sessions/${id}/events?limit=1&types[]=user.message`, 4_096);
      await expectCheap('GET', `/v1/sessions/${id}/fleet?follow=false`, 4_096);
    },
    timeout,
  );
});

describe('a roster of 20 members with the longest system prompts', () => {
  it(
    '[H144] its session is created, opened, forked and updated without holding the event loop',
    async () => {
      const { agent: _, ...session } = await toSession();
      const system = 's'.repeat(httpLimits.systemCharsMax);
      const agents: { type: 'agent'; id: string }[] = [];
      for (let index = 0; index < agentLimits.rosterMembersMax; index++) {
        const { id } = await send<{ id: string }>('POST', '/v1/agents', {
          name: `m${index}`,
          model: 'scripted/worker',
          system,
        });
        agents.push({ type: 'agent', id });
      }
      const lead = { name: 'lead', model: 'scripted/worker', system, multiagent: { type: 'coordinator', agents } };
      const { id: agent } = await send<{ id: string }>('POST', '/v1/agents', lead);
      await expectCheap('POST', '/v1/sessions', 4_096, { body: { ...session, agent } });
      const { id } = await send<{ id: string }>('POST', '/v1/sessions', { ...session, agent });
      const body = { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go' }] }] };
      await expectCheap('POST', `/v1/sessions/${id}/events`, 4_096, { body });
      await expectCheap('POST', `/v1/sessions/${id}/fork`, 4_096, { body: {} });
      await expectCheap('POST', `/v1/sessions/${id}`, 4_096, { body: { title: 'Long' } });
    },
    timeout,
  );
});

describe('very many sessions', () => {
  it('[V137] sessions and runs are listed without holding the event loop', async () => {
    await expectCheap('GET', '/v1/sessions?limit=100', 0);
    await expectCheap('GET', '/v1/sessions?limit=100&statuses[]=running', 0);
    await expectCheap('GET', '/v1/requests?limit=100', 0);
    await expectCheap('GET', '/v1/sessions/sesn_over/threads', 0);
    await expectCheap('GET', '/metrics', 0);
    await expectCheap('GET', '/v1/fleet?follow=false&from=live', 4 * logLimits.checkpointFrames);
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

async function toSession() {
  const agent = await send<{ id: string }>('POST', '/v1/agents', { name: 'a', model: 'scripted/worker' });
  const config = { type: 'cloud', networking: { type: 'unrestricted' } };
  const environment = await send<{ id: string }>('POST', '/v1/environments', { name: 'e', config });
  return { agent: agent.id, environment_id: environment.id };
}

async function send<Found>(method: string, path: string, body: object): Promise<Found> {
  const headers = { 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${server.server.port}${path}`;
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  return (await response.json()) as Found;
}
