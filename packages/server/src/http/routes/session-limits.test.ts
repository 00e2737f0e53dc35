import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { type TestServer, toScript, withServer } from '../../server.suite.ts';
import { outcomeOf } from './records.suite.ts';

const bad = '400 invalid_request_error';
const message: Anthropic.Beta.Sessions.BetaManagedAgentsUserMessageEventParams = {
  type: 'user.message',
  content: [{ type: 'text', text: 'again' }],
};
const sleeping = toScript([[{ sleep_ms: 60_000 }]]);

describe('limits of sessions at the door', () => {
  it('[Q20] a title, the initial events and the events of one request have a most, and one more is refused', () =>
    withServer(async ({ client }) => {
      const base = await baseOf(client);
      const create = (more: object) => outcomeOf(client.beta.sessions.create({ ...base, ...more }));
      expect(await create({ title: 'x'.repeat(limits.titleCharsMax) })).toBe('ok');
      expect(await create({ title: 'x'.repeat(limits.titleCharsMax + 1) })).toBe(bad);
      expect(await create({ initial_events: many(limits.initialEventsMax, message) })).toBe('ok');
      expect(await create({ initial_events: many(limits.initialEventsMax + 1, message) })).toBe(bad);
      const { id } = await client.beta.sessions.create(base);
      const send = (count: number) => outcomeOf(client.beta.sessions.events.send(id, { events: many(count, message) }));
      expect(await send(limits.sentEventsMax)).toBe('ok');
      expect(await send(limits.sentEventsMax + 1)).toBe(bad);
      expect(await send(0)).toBe(bad);
    }));

  it('[Q20] a system message has a most of blocks, comes last, alone and after what it goes with', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client));
      const system = (count: number) => ({ type: 'system.message', content: many(count, { type: 'text', text: 'x' }) });
      const send = (...events: object[]) =>
        outcomeOf(client.beta.sessions.events.send(id, { events: events as never }));
      expect(await send(message, system(limits.systemBlocksMax))).toBe('ok');
      expect(await send(message, system(limits.systemBlocksMax + 1))).toBe(bad);
      expect(await send(message, system(0))).toBe(bad);
      expect(await send(system(1))).toBe(bad);
      expect(await send(system(1), message)).toBe(bad);
      expect(await send(message, system(1), system(1))).toBe(bad);
      expect(await send({ type: 'user.interrupt' }, system(1))).toBe(bad);
    }));

  it('[Q20] metadata of a session has a most of pairs, also after an update that adds to them', () =>
    withServer(async ({ client }) => {
      const base = await baseOf(client);
      const pairs = (count: number, from = 0) =>
        Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${from + at}`, 'v']));
      const { id } = await client.beta.sessions.create({ ...base, metadata: pairs(limits.metadataPairsMax) });
      expect(
        await outcomeOf(client.beta.sessions.create({ ...base, metadata: pairs(limits.metadataPairsMax + 1) })),
      ).toBe(bad);
      const update = (metadata: Record<string, string | null>) =>
        outcomeOf(client.beta.sessions.update(id, { metadata }));
      expect(await update({ more: 'v' })).toBe(bad);
      expect(await update({ k0: null, more: 'v' })).toBe('ok');
    }));
});

describe('updates at the same time', () => {
  it('[Q30] of several who change different keys of the metadata at once all are heard', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client));
      const keys = Array.from({ length: 10 }, (_, at) => `k${at}`);
      await Promise.all(keys.map((key) => client.beta.sessions.update(id, { metadata: { [key]: 'v' } })));
      const { metadata } = await client.beta.sessions.retrieve(id);
      expect(Object.keys(metadata).toSorted()).toEqual(keys);
    }));
});

describe('what sessions do not have', () => {
  it('[Q21] what would be kept and do nothing is refused, and the answer says which field it is', () =>
    withServer(async ({ client }) => {
      const base = await baseOf(client);
      const messageOf = async (more: object) => {
        const created = client.beta.sessions.create({ ...base, ...more });
        return created.then(
          () => 'it was accepted',
          (error: Error) => error.message,
        );
      };
      expect(await messageOf({ vault_ids: ['vlt_1'] })).toContain('vault_ids');
      const outcome = { type: 'user.define_outcome', description: 'x', rubric: { type: 'text', content: 'y' } };
      expect(await messageOf({ initial_events: [message, outcome] })).toContain('initial_events.1');
      expect(await outcomeOf(client.beta.sessions.create({ ...base, vault_ids: [] }))).toBe('ok');
      const { id } = await client.beta.sessions.create(base);
      for (const vault_ids of [[], ['vlt_1']])
        expect(await outcomeOf(client.beta.sessions.update(id, { vault_ids }))).toBe(bad);
    }));
});

describe('streams', () => {
  it('[Q22] a stream of what has ended for good ends at once, of a session and of a thread', () =>
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

  it('[Q22] with the id of the event that was seen last, a stream goes on behind it', () =>
    withServer(async ({ client }) => {
      const { id } = await client.beta.sessions.create(await baseOf(client, toScript([[{ say: 'ok' }]])));
      await client.beta.sessions.events.send(id, { events: [message] });
      const first = await untilIdle(client, id);
      const seen = first.findIndex(({ type }) => type === 'agent.message');
      const headers = { 'Last-Event-ID': first[seen]!.id };
      const rest = await untilIdle(client, id, headers);
      expect(rest.map((event) => event.id)).toEqual(first.slice(seen + 1).map((event) => event.id));
    }));

  it('[Q19] whoever had a stream open when a turn ended has seen it: the next stream shows the next turn', () =>
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

  it('[Q19] who has read a session at rest waits for what is next, and a send that is on its way is not lost by it', () =>
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
      // Others may read it at any time.
      const [, sent] = await Promise.all([
        Promise.all(many(5, null).map(() => client.beta.sessions.retrieve(id))),
        client.beta.sessions.events.send(id, { events: [message] }),
      ]);
      const events = await untilIdle(client, id);
      expect(events.map((event) => event.id)).toContain(sent.data![0]!.id);
    }));
});

describe('the same sent twice', () => {
  it('[Q23] is two messages, unless the client says that it repeats: then it is answered as the newest was', () =>
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

/** What a stream that is opened now shows, up to the end of a turn. */
async function untilIdle(client: Anthropic, id: string, headers: Record<string, string> = {}): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const event of await client.beta.sessions.events.stream(id, {}, { headers })) {
    seen.push(event as Seen);
    if (event.type === 'session.status_idle') break;
  }
  return seen;
}
