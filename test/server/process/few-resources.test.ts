import { readdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { toFile } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type LimitedProcess,
  startLimitedProcess,
} from '../../../packages/server/src/http/hostile/limited-process.suite.ts';
import { openRaw } from '../../../packages/server/src/http/hostile/raw-http.suite.ts';
import { toScript } from '../server.suite.ts';

/** A third of them are open before the first connection. */
const DESCRIPTORS = 72;

let server: LimitedProcess;
// Only Linux has `prlimit`.
describe.skipIf(process.platform !== 'linux')('a server with few resources', () => {
  beforeAll(async () => {
    server = await startLimitedProcess(DESCRIPTORS);
  }, 60_000);
  afterAll(() => server.close());

  it('[H89] an upload that does not fit on the disk is a 507 and leaves no file behind', async () => {
    const { client, directory, key, url } = server;
    const small = await client.beta.files.upload({ file: await toFile(Buffer.from('x'), 'small.txt') });
    // Writes beyond this size fail, as on a full disk.
    server.limit('fsize', 20_000_000);
    const form = new FormData();
    form.set('file', new Blob([Buffer.alloc(30_000_000)]), 'large.bin');
    const answer = await fetch(`${url}/v1/files`, { method: 'POST', headers: { 'x-api-key': key }, body: form });
    expect(answer.status).toBe(507);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { details: { error_code: 'storage_full' } } });
    expect(await readdir(join(directory, 'files'))).toEqual([small.id]);
    expect((await client.beta.files.list()).data.map(({ id }) => id)).toEqual([small.id]);
    expect(server.isAlive()).toBe(true);
  });

  it('[H107] with 72 descriptors and 2,000 idle connections, keys are served, sessions run, and everything recovers', {
    timeout: 120_000,
  }, async () => {
    const { client, port, url } = server;
    const turns = Array.from({ length: 20 }, (_, index) => [
      { call: 'bash', input: { command: `echo ${index}; sleep 0.05` } },
    ]);
    const agent = await client.beta.agents.create({
      name: 'worker',
      model: 'scripted/worker',
      system: toScript([...turns, [{ say: 'done' }]]),
      tools: [{ type: 'agent_toolset_20260401' }],
    });
    const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id });
    const atStart = server.descriptors();
    const events: { type: string }[] = [];
    const watched = follow(await client.beta.sessions.events.stream(session.id), events);
    await client.beta.sessions.events.send(session.id, {
      events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
    });
    const health = probe(url);
    const idle: Socket[] = [];
    for (let count = 0; count < 40; count++) {
      idle.push(...(await Promise.all(Array.from({ length: 50 }, () => openRaw(port)))));
    }
    await expect.poll(() => idle.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(DESCRIPTORS / 2);
    await expect.poll(async () => (await client.beta.agents.list()).data.length).toBe(1);
    await watched;
    expect(events.filter(({ type }) => type === 'agent.tool_result')).toHaveLength(20);
    expect(events.at(-1)!.type).toBe('session.status_idle');
    const { answered, gapMs } = await health.stop();
    expect(answered).toBeGreaterThan(10);
    expect(gapMs).toBeLessThan(5_000);
    expect(server.descriptors()).toBeLessThan(DESCRIPTORS);

    for (const socket of idle) socket.destroy();
    await expect.poll(() => server.descriptors()).toBeLessThanOrEqual(atStart + 12);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(server.isAlive()).toBe(true);
    expect(server.reports.filter((line) => line.includes('error') && !line.includes('EFBIG'))).toEqual([]);
  });

  it('[H105] without free descriptors keys stay valid, requests that need a file are a 529, and everything recovers', async () => {
    const { client, port, key } = server;
    const { id } = await client.beta.files.upload({ file: await toFile(Buffer.from('x'), 'x.txt') });
    const kept = await openKept(port, key);
    expect((await kept.ask('GET', '/v1/agents')).status).toBe(200);
    server.limit('nofile', 3);
    // By then the keys are due to be read again.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await kept.ask('GET', '/v1/agents')).status).toBe(200);
    expect((await kept.ask('GET', '/healthz')).status).toBe(200);
    expect(await kept.ask('GET', `/v1/files/${id}/content`)).toMatchObject({ status: 529, code: 'out_of_resources' });
    // Lists come from the index in memory.
    expect((await kept.ask('GET', '/v1/files')).status).toBe(200);
    server.limit('nofile', DESCRIPTORS);
    expect((await kept.ask('GET', `/v1/files/${id}/content`)).status).toBe(200);
    kept.close();
    await expect.poll(async () => (await client.beta.files.list()).data.length).toBe(2);
    expect(server.isAlive()).toBe(true);
  });
});

/** A connection that stays open, for requests one after the other. */
async function openKept(port: number, key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (method: string, path: string) =>
    new Promise<{ status: number; code: string | undefined }>((resolve, reject) => {
      const sent = request(
        { port, host: '127.0.0.1', agent, method, path, headers: { 'x-api-key': key } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: answer.statusCode!, code: /"error_code":"(\w+)"/.exec(text)?.[1] });
          });
        },
      );
      sent.on('error', reject);
      sent.end();
    });
  return { ask, close: () => agent.destroy() };
}

async function follow(stream: AsyncIterable<{ type: string }>, events: { type: string }[]): Promise<void> {
  for await (const event of stream) {
    events.push(event);
    if (event.type === 'session.status_idle') return;
  }
}

/** Requests `/healthz` on a new connection each time, and measures the longest time without an answer. */
function probe(url: string): { stop(): Promise<{ answered: number; gapMs: number }> } {
  const state = { isStopped: false };
  let answered = 0;
  let gapMs = 0;
  const run = async () => {
    let last = performance.now();
    while (!state.isStopped) {
      const headers = { connection: 'close' };
      const answer = await fetch(`${url}/healthz`, { headers, signal: AbortSignal.timeout(2_000) }).catch(
        () => undefined,
      );
      const now = performance.now();
      gapMs = Math.max(gapMs, now - last);
      if (answer?.status === 200) {
        answered += 1;
        last = now;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const running = run();
  return {
    stop: async () => {
      state.isStopped = true;
      await running;
      return { answered, gapMs };
    },
  };
}
