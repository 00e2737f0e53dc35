import { expect, it } from 'vitest';
import { storeLimits } from '../../store/limits.ts';
import { toScript, withServer } from '../../../../../test/server/server.suite.ts';
import { outcomeOf } from './records.suite.ts';

it('[R350] the official client pages through large events in both orders and receives each of them once', () =>
  withServer(async ({ client }) => {
    const system = toScript([[{ sleep_ms: 60_000 }]]);
    const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo', system });
    const environment = await client.beta.environments.create({ name: 'here' });
    const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    const lengths = [3_000_000, 1_500_000, 1_500_000, 5_000_000, 10, 3_000_000];
    for (const length of lengths) {
      const content = [{ type: 'text' as const, text: 'x'.repeat(length) }];
      await client.beta.sessions.events.send(id, { events: [{ type: 'user.message', content }] });
    }
    const listed = async (order: 'asc' | 'desc') => {
      const found: number[] = [];
      for await (const event of client.beta.sessions.events.list(id, { order, limit: 1_000 })) {
        if (event.type === 'user.message') found.push(JSON.stringify(event.content).length - TEXT_BLOCK.length);
      }
      return found;
    };
    expect(await listed('asc')).toEqual(lengths);
    expect(await listed('desc')).toEqual(lengths.toReversed());
    const first = await client.beta.sessions.events.list(id, { order: 'desc', limit: 1_000 });
    expect(JSON.stringify(first.data).length).toBeLessThan(storeLimits.pageBytesMax);
    expect(first.next_page).not.toBeNull();
  }));

it('[H125] the official client pages through large agents and versions and receives each of them once', () =>
  withServer(async ({ client }) => {
    const tool = (chars: number) => ({
      type: 'custom' as const,
      name: 't',
      description: 'x'.repeat(chars),
      input_schema: { type: 'object' as const },
    });
    const create = (name: string, chars: number) =>
      client.beta.agents.create({ name, model: 'scripted/echo', tools: [tool(chars)] });
    const ids: string[] = [];
    for (let at = 0; at < 9; at++) ids.push((await create(`a${at}`, 1_000_000)).id);
    for (let at = 0; at < 8; at++) {
      await client.beta.agents.update(ids[0]!, { version: at + 1, metadata: { at: String(at) } });
    }
    const agents: string[] = [];
    for await (const agent of client.beta.agents.list({ limit: 100 })) agents.push(agent.id);
    expect(agents).toEqual(ids.toReversed());
    const versions: number[] = [];
    for await (const agent of client.beta.agents.versions.list(ids[0]!, { limit: 100 })) versions.push(agent.version);
    expect(versions).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect((await client.beta.agents.list({ limit: 100 })).data).toHaveLength(4);
    expect(await outcomeOf(create('large', 30_000_000))).toBe('400 invalid_request_error');
  }));

const TEXT_BLOCK = JSON.stringify([{ type: 'text', text: '' }]);
