import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseLimits } from '../../packages/server/src/base/limits.ts';
import { modelLimits } from '../../packages/server/src/engines/model/limits.ts';
import { systemSchedule } from '../../packages/server/src/base/schedule.ts';
import type { EngineEvent } from '../../packages/server/src/engines/model/engine.ts';
import { createMessagesEngine } from '../../packages/server/src/engines/model/messages/messages-engine.ts';
import { readStream } from '../../packages/server/src/engines/model/messages/read-stream.ts';
import { expectHarmless } from '../support/expect-harmless.ts';
import { type HostileServer, startHostileServer } from '../support/hostile-server.ts';

// Hostile endpoints of the Messages API.

let server: HostileServer;
const asked = new Set<string>();

beforeAll(async () => {
  server = await startHostileServer();
  for (let round = 0; round < 3; round++) await ask('fine');
});

afterAll(async () => await server.close());

describe('answers', () => {
  it.each([
    ['endless-line', 'the answer has more than 67108864 bytes'],
    ['endless-unknown', 'the answer has more than 67108864 bytes'],
    ['fat-blocks', 'the answer has more than 67108864 bytes'],
    ['gzip-line', 'the answer has more than 67108864 bytes'],
    ['endless-text', 'the answer has more than 8000000 characters'],
    ['citations', 'the answer has more than 8000000 characters'],
    ['many-blocks', 'the answer has more than 1000 blocks'],
    ['deep-input', 'the inputs of its calls have more than 100000 values'],
    ['bracket-input', 'the inputs of its calls have more than 100000 values'],
    ['wide-input', 'the inputs of its calls have more than 100000 values'],
    ['bracket-event', 'an event of the answer has more than 100000 values'],
    ['object-event', 'an event of the answer has more than 100000 values'],
    ['wrong-types', 'a block has no type'],
    ['cut', 'the connection to'],
    ['headers', 'the connection to'],
  ])('[N50, N53] %s fails: %s', async (name, reason) => {
    expect(await failureOf(name)).toContain(reason);
  });

  it('[N50] the limits of answers', () => {
    const { engineEventBytesMax, engineAnswerBytesMax, engineBlocksMax, engineValuesMax, engineAnswerMs } = modelLimits;
    expect([engineEventBytesMax, engineAnswerBytesMax]).toEqual([4_194_304, 67_108_864]);
    expect([engineBlocksMax, engineValuesMax, engineAnswerMs]).toEqual([1_000, 100_000, 3_600_000]);
  });

  it('[N50, N53] a response with wrong token counts is accepted', async () => {
    expect((await visit('odd-usage')).at(-1)).toMatchObject({ type: 'finished' });
  });

  it.each(['slow-pings', 'drip-line'])('[N50] %s ends at its time limit although bytes keep arriving', async (name) => {
    asked.add(name);
    const response = await fetch(`${server.url('model', name)}/v1/messages`, { method: 'POST', body: '{}' });
    const reading = (async () => {
      for await (const event of readStream(response, { silenceMs: 5_000, answerMs: 300, schedule: systemSchedule })) {
        expect(event).toBeTypeOf('object');
      }
    })();
    await expect(reading).rejects.toThrow('the answer was not over after 300 ms');
    await expect.poll(() => server.connections(), { interval: 5 }).toBeLessThanOrEqual(1);
  });

  it.each(['endless-pings', 'gzip', 'object-input'])('[N53] %s does not hold the event loop', async (name) => {
    asked.add(name);
    await expectHarmless(name, async () => await askAt(server.url('model', name), AbortSignal.timeout(700)));
    await expect.poll(() => server.connections(), { interval: 5 }).toBeLessThanOrEqual(1);
  });

  it('[N50] silence fails', async () => {
    expect(await failureOf('silence')).toContain('did not begin to answer within 1000 ms');
  });

  it.each(['html', 'no-type'])('[N50, N53] %s is not read, and its connection is closed', async (name) => {
    expect(await failureOf(name)).toContain('instead of an event stream');
  });
});

describe('errors', () => {
  it.each(['endless-error', 'deep-error', 'gzip-error'])(
    '[N51, N53] %s: of its body the beginning is read',
    async (name) => {
      expect((await failureOf(name)).length).toBeLessThanOrEqual(baseLimits.errorMessageCharsMax);
      expect([modelLimits.engineErrorBytesMax, modelLimits.engineErrorMs]).toEqual([65_536, 10_000]);
    },
  );

  it('[N51] drip-error: a body that does not end is not waited for', async () => {
    expect(await failureOf('drip-error')).toMatch(/^529 x|did not begin to answer/);
  });
});

describe('redirects', () => {
  it('[N52] are not followed, and the key goes nowhere else', async () => {
    expect(await failureOf('redirect')).toContain('redirects to another address, which is not followed');
    const keys: (string | string[] | undefined)[] = [];
    const other = createServer((request, response) => {
      keys.push(request.headers['x-api-key']);
      response.end();
    });
    const first = createServer((_request, response) => {
      const { port } = other.address() as AddressInfo;
      response.writeHead(307, { location: `http://localhost:${port}/v1/messages` }).end();
    });
    await Promise.all([once(other.listen(0), 'listening'), once(first.listen(0, '127.0.0.1'), 'listening')]);
    const events = await askAt(`http://127.0.0.1:${(first.address() as AddressInfo).port}`);
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { consequence: 'turn' } });
    expect(keys).toEqual([]);
    for (const each of [first, other]) {
      each.closeAllConnections();
      each.close();
    }
  });
});

it('[N53] every kind of hostile endpoint was asked', () => {
  expect([...asked].toSorted()).toEqual([...server.names.model].toSorted());
});

async function failureOf(name: string): Promise<string> {
  const last = (await visit(name)).at(-1);
  if (last?.type !== 'failed') throw new Error(`${name} did not fail but ${JSON.stringify(last).slice(0, 200)}`);
  return last.failure.message;
}

/** Connections of good answers are kept for the next one; of these there is one at most. */
async function visit(name: string): Promise<EngineEvent[]> {
  const events = await expectHarmless(name, async () => await ask(name), { grownMibMax: 192 });
  await expect.poll(() => server.connections(), { interval: 5 }).toBeLessThanOrEqual(1);
  return events;
}

async function ask(name: string): Promise<EngineEvent[]> {
  asked.add(name);
  return await askAt(server.url('model', name));
}

async function askAt(baseURL: string, signal = new AbortController().signal): Promise<EngineEvent[]> {
  const isSlow = /silence|drip/.test(baseURL);
  const firstByteMs = isSlow ? 1_000 : 20_000;
  const engine = createMessagesEngine({ credential: { apiKey: 'sk-test' }, baseURL, firstByteMs });
  const request = {
    model: { id: 'm', effort: null, speed: 'standard' as const },
    system: null,
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }],
    tools: [],
    thread: { id: 'sthr_1', agentName: 'a' },
  };
  const events: EngineEvent[] = [];
  for await (const event of engine.request(request, signal)) {
    // Only the last counts, and all events of an endless answer would take memory here.
    events[0] = event;
  }
  await engine.close();
  return events;
}
