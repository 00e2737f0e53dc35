import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { sessionLimits } from '../../sessions/core/limits.ts';
import { type TestServer, toScript, withServer } from '../../../../../test/server/server.suite.ts';
import { outcomeOf } from './records.suite.ts';

const bad = '400 invalid_request_error';
const message: Anthropic.Beta.Sessions.BetaManagedAgentsUserMessageEventParams = {
  type: 'user.message',
  content: [{ type: 'text', text: 'again' }],
};
const tooLarge = '413 request_too_large';
const said = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });
const sleeping = toScript([[{ sleep_ms: 60_000 }]]);

describe('limits of sessions at the server', () => {
  it('[Q20] a title, initial events and the events of one request have a limit, and one more is refused', () =>
    withServer(async ({ client }) => {
      const base = await baseOf(client);
      const create = (more: object) => outcomeOf(client.beta.sessions.create({ ...base, ...more }));
      expect(await create({ title: 'x'.repeat(sessionLimits.titleCharsMax) })).toBe('ok');
      expect(await create({ title: 'x'.repeat(sessionLimits.titleCharsMax + 1) })).toBe(bad);
      expect(await create({ initial_events: many(httpLimits.initialEventsMax, message) })).toBe('ok');
      expect(await create({ initial_events: many(httpLimits.initialEventsMax + 1, message) })).toBe(bad);
      const { id } = await client.beta.sessions.create(base);
      const send = (count: number) => outcomeOf(client.beta.sessions.events.send(id, { events: many(count, message) }));
      expect(await send(httpLimits.sentEventsMax)).toBe('ok');
      expect(await send(httpLimits.sentEventsMax + 1)).toBe(bad);
      expect(await send(0)).toBe(bad);
    }));

  it('[H140] events of one request have at most 30 MiB: more is a 413 that advises to upload a file, and an image of 5 MB fits', () =>
    withServer(async ({ client }) => {
      const base = await baseOf(client);
      const { id } = await client.beta.sessions.create(base);
      const send = (...events: object[]) =>
        outcomeOf(client.beta.sessions.events.send(id, { events: events as never }, { maxRetries: 0 }));
      const data = 'QUJD'.repeat(5_000_000 / 4);
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
      const shown = { type: 'user.message', content: [image, { type: 'text', text: 'What is this?' }] };
      expect(await send(shown)).toBe('ok');
      const room = sessionLimits.contentBytesMax - JSON.stringify([said(''), said('-')]).length;
      const [first, second] = [said('x'.repeat(Math.floor(room / 2))), said('-'.repeat(Math.ceil(room / 2) + 1))];
      expect(await send(first, second)).toBe('ok');
      expect(await send(first, said('-'.repeat(Math.ceil(room / 2) + 2)))).toBe(tooLarge);
      const alone = { ...base, initial_events: [first, said('-'.repeat(Math.ceil(room / 2) + 2))] };
      expect(await outcomeOf(client.beta.sessions.create(alone as never, { maxRetries: 0 }))).toBe(tooLarge);
      await expect(
        client.beta.sessions.events.send(id, { events: [said('x'.repeat(sessionLimits.contentBytesMax))] as never }),
      ).rejects.toThrow(/events\[0\] has \d+ bytes, and 31457280 are allowed: upload .* with POST \/v1\/files/);
    }));

  it('[Q20] a system message has a limited number of blocks, and is the single last event after the one it belongs to', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client));
      const system = (count: number) => ({ type: 'system.message', content: many(count, { type: 'text', text: 'x' }) });
      const send = (...events: object[]) =>
        outcomeOf(client.beta.sessions.events.send(id, { events: events as never }));
      expect(await send(message, system(httpLimits.systemBlocksMax))).toBe('ok');
      expect(await send(message, system(httpLimits.systemBlocksMax + 1))).toBe(bad);
      expect(await send(message, system(0))).toBe(bad);
      expect(await send(system(1))).toBe(bad);
      expect(await send(system(1), message)).toBe(bad);
      expect(await send(message, system(1), system(1))).toBe(bad);
      expect(await send({ type: 'user.interrupt' }, system(1))).toBe(bad);
    }));

  it('[Q20] metadata of a session has a limited number of pairs, also after an update that adds some', () =>
    withServer(async ({ client }) => {
      const base = await baseOf(client);
      const pairs = (count: number, from = 0) =>
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${from + at}`, 'v']));
      const { id } = await client.beta.sessions.create({ ...base, metadata: pairs(baseLimits.metadataPairsMax) });
      expect(
        await outcomeOf(client.beta.sessions.create({ ...base, metadata: pairs(baseLimits.metadataPairsMax + 1) })),
      ).toBe(bad);
      const update = (metadata: Record<string, string | null>) =>
        outcomeOf(client.beta.sessions.update(id, { metadata }));
      expect(await update({ more: 'v' })).toBe(bad);
      expect(await update({ k0: null, more: 'v' })).toBe('ok');
    }));
});

describe('updates at the same time', () => {
  it('[Q30] concurrent updates of different metadata keys are all applied', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client));
      const keys = Array.from({ length: 10 }, (_, at) => `k${at}`);
      await Promise.all(keys.map((key) => client.beta.sessions.update(id, { metadata: { [key]: 'v' } })));
      const { metadata } = await client.beta.sessions.retrieve(id);
      expect(Object.keys(metadata).toSorted()).toEqual(keys);
    }));
});

describe('unsupported fields', () => {
  it('[Q21] a field that would have no effect is refused, and the error names it', () =>
    withServer(async ({ client }) => {
      const base = await baseOf(client);
      const messageOf = async (more: object) => {
        const created = client.beta.sessions.create({ ...base, ...more });
        return created.then(
          () => 'it was accepted',
          (error: Error) => error.message,
        );
      };
      expect(await messageOf({ vault_ids: ['vlt_1'] })).toContain('vlt_1 does not exist');
      const outcome = { type: 'user.define_outcome', description: 'x', rubric: { type: 'text', content: 'y' } };
      expect(await messageOf({ initial_events: [message, outcome] })).toContain('initial_events.1');
      expect(await outcomeOf(client.beta.sessions.create({ ...base, vault_ids: [] }))).toBe('ok');
      const { id } = await client.beta.sessions.create(base);
      for (const vault_ids of [[], ['vlt_1']])
        expect(await outcomeOf(client.beta.sessions.update(id, { vault_ids }))).toBe(bad);
    }));
});

describe('streams', () => {
  it('[Q22] a stream of a terminated session or thread ends at once', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client, toScript([[{ say: 'ok' }]])));
      const { data: threads } = await client.beta.sessions.threads.list(id);
      await client.beta.sessions.archive(id);
      const seen: string[] = [];
      for await (const { type } of await client.beta.sessions.events.stream(id)) seen.push(type);
      for await (const { type } of await client.beta.sessions.threads.events.stream(threads[0]!.id, { session_id: id }))
        seen.push(type);
      expect(seen).toEqual([]);
    }));

  it('[Q22] a stream with the id of the last received event continues after it', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client, toScript([[{ say: 'ok' }]])));
      await client.beta.sessions.events.send(id, { events: [message] });
      const first = await untilIdle(client, id);
      const seen = first.findIndex(({ type }) => type === 'agent.message');
      const headers = { 'Last-Event-ID': first[seen]!.id };
      const rest = await untilIdle(client, id, headers);
      expect(rest.map((event) => event.id)).toEqual(first.slice(seen + 1).map((event) => event.id));
    }));

  it('[Q19] a client that had a stream open when a turn ended has seen it: its next stream shows the next turn', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client, toScript([[{ say: 'ok' }]])));
      for (let round = 0; round < 3; round += 1) {
        const stream = await client.beta.sessions.events.stream(id);
        const [sent] = (await client.beta.sessions.events.send(id, { events: [message] })).data ?? [];
        const ids: string[] = [];
        for await (const event of stream) {
          if ('id' in event) ids.push(event.id);
          if (event.type === 'session.status_idle') break;
        }
        expect(ids).toContain(sent!.id);
      }
    }));

  it('[Q19] a client that has read an idle session waits for the next events, and a send that is under way is not lost', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client, toScript([[{ say: 'ok' }]])));
      await client.beta.sessions.events.send(id, { events: [message] });
      await untilIdle(client, id);
      await client.beta.sessions.events.send(id, { events: [message] });
      while (
        (await client.beta.sessions.events.list(id, { order: 'desc', limit: 1 })).data[0]?.type !==
        'session.status_idle'
      );
      await client.beta.sessions.retrieve(id);
      // Another client may read the session at any time.
      const [, sent] = await Promise.all([
        Promise.all(many(5, null).map(() => client.beta.sessions.retrieve(id))),
        client.beta.sessions.events.send(id, { events: [message] }),
      ]);
      const events = await untilIdle(client, id);
      expect(events.map((event) => event.id)).toContain(sent.data![0]!.id);
    }));
});

describe('equal events sent twice', () => {
  it('[Q23] are two messages, unless the client sends a retry count: then it gets the answer of the newest', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client));
      const send = async (retryCount: number) => {
        const headers = { 'x-stainless-retry-count': String(retryCount) };
        return (await client.beta.sessions.events.send(id, { events: [message] }, { headers })).data![0]!.id;
      };
      const [first, second] = [await send(0), await send(0)];
      expect(second).not.toBe(first);
      expect(await send(1)).toBe(second);
    }));
});

async function baseOf(client: TestServer['client'], system: string = sleeping) {
  const { id: agent } = await client.beta.agents.create({ name: 'x', model: 'scripted/echo', system });
  const { id: environment_id } = await client.beta.environments.create({ name: 'x' });
  return { agent, environment_id };
}

function many<T>(count: number, item: T): T[] {
  return Array.from({ length: count }, () => item);
}

type Seen = Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent;

/** The events of a stream that is opened now, up to the end of a turn. */
async function untilIdle(client: Anthropic, id: string, headers: Record<string, string> = {}): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const event of await client.beta.sessions.events.stream(id, {}, { headers })) {
    seen.push(event as Seen);
    if (event.type === 'session.status_idle') break;
  }
  return seen;
}
