import { ConflictError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { agentLimits } from '../../agents/limits.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { toolLimits } from '../../tools/limits.ts';
import { agent as agentForm } from '../schemas/agent.ts';
import { outcomeOf, type RecordsServer, withRecords } from './records.suite.ts';

const plain = { name: 'Researcher', model: 'scripted/demo' };
const bad = '400 invalid_request_error';

describe('creating', () => {
  it('[H49] an agent created with a name and a model has all keys with their defaults', () =>
    withRecords(async ({ client }) => {
      const made = await client.beta.agents.create(plain);
      expect(made).toEqual({
        type: 'agent',
        id: expect.stringMatching(/^agent_01/),
        version: 1,
        name: 'Researcher',
        description: null,
        system: null,
        model: { id: 'scripted/demo', effort: { type: expect.any(String) }, speed: 'standard' },
        tools: [],
        mcp_servers: [],
        skills: [],
        multiagent: null,
        metadata: {},
        execution_identity: { type: 'service_account' },
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: '2026-01-01T00:00:00.000Z',
        archived_at: null,
      });
      expect(made._request_id).toMatch(/^req_01/);
      agentForm.parse(made);
    }));

  it('[H49] every field of an agent is returned in the form of the contract', () =>
    withRecords(async ({ client }) => {
      const member = await client.beta.agents.create({ ...plain, name: 'Member' });
      const made = await client.beta.agents.create({
        name: 'Everything',
        model: { id: 'scripted/demo', effort: 'high', speed: 'fast' },
        description: 'Does it all',
        system: 'Be kind.',
        tools: [
          {
            type: 'agent_toolset_20260401',
            default_config: { permission_policy: { type: 'always_ask' } },
            configs: [
              { name: 'bash', enabled: false },
              { name: 'web_fetch', allowed_domains: ['example.com'], max_content_tokens: 1_000 },
            ],
          },
          { type: 'mcp_toolset', mcp_server_name: 'docs' },
          {
            type: 'custom',
            name: 'look_up',
            description: 'Looks up',
            input_schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
          },
        ],
        mcp_servers: [{ type: 'url', name: 'docs', url: 'https://mcp.example.com/' }],
        skills: [{ type: 'custom', skill_id: 'skill_1' }],
        multiagent: { type: 'coordinator', agents: [member.id, { type: 'self' }] },
        metadata: { team: 'a' },
      });
      agentForm.parse(made);
      expect(made.model.effort).toEqual({ type: 'high' });
      expect(made.tools).toMatchObject([
        { default_config: { enabled: true }, configs: [{ name: 'bash', type: 'bash', enabled: false }, {}] },
        { default_config: { enabled: true, permission_policy: { type: 'always_ask' } }, configs: [] },
        { name: 'look_up' },
      ]);
      expect(await client.beta.agents.retrieve(made.id)).toEqual(made);
    }));

  it('[H50] an effort is accepted as a string and as an object, and returned as an object', () =>
    withRecords(async ({ client }) => {
      for (const effort of ['high', { type: 'high' }] as const) {
        const { model } = await client.beta.agents.create({ name: 'A', model: { id: 'm', effort } });
        expect(model).toEqual({ id: 'm', effort: { type: 'high' }, speed: 'standard' });
      }
    }));

  it('[H51] a missing, unknown or malformed field is a 400 that names it', () =>
    withRecords(async ({ call }) => {
      const messageOf = async (body: object) => {
        const { status, json } = await call('POST', '/v1/agents', body);
        return `${status} ${json.error.message}`;
      };
      expect(await messageOf({ model: 'm' })).toBe('400 agents.create: name: is missing: add it: a string');
      expect(await messageOf({ name: 'a' })).toBe(
        '400 agents.create: model: is missing: add it: a string or an object',
      );
      expect(await messageOf({ ...plain, colour: 1 })).toBe(
        '400 agents.create: colour: is not known here: leave it out',
      );
      expect(await messageOf({ ...plain, model: { id: 'm', effort: 'x' } })).toContain('agents.create: model.effort: ');
      expect(await messageOf({ ...plain, model: { speed: 'fast' } })).toContain('agents.create: model.id: is missing');
      expect(await messageOf({ ...plain, tools: [{ type: 'multiagent' }] })).toContain('agents.create: tools.0.type: ');
      expect(await messageOf({ ...plain, tools: [{ type: 'custom', name: 'a' }] })).toContain('tools.0.description: ');
      const set = { type: 'agent_toolset_20260401', configs: [{ name: 'bash', type: 'read' }] };
      expect(await messageOf({ ...plain, tools: [set] })).toContain('tools.0.configs.0.type: ');
      expect(await messageOf({ ...plain, multiagent: { type: 'coordinator' } })).toContain(
        'multiagent.agents: is missing',
      );
      expect(await messageOf({ ...plain, multiagent: { type: 'coordinator', agents: [{ type: 'x' }] } })).toContain(
        'multiagent.agents.0.type: ',
      );
      expect(await messageOf({ ...plain, metadata: { k: 1 } })).toContain('metadata.k: is not a string');
      const server = { type: 'url', name: 'docs', url: 'ftp://example.com' };
      expect(await messageOf({ ...plain, mcp_servers: [server] })).toContain('mcp_servers.0.url: has the wrong form');
    }));

  it('[H52] texts and lists at their limits are accepted, and longer ones are refused', () =>
    withRecords(async ({ call }) => {
      const statusOf = async (over: object) => (await call('POST', '/v1/agents', { ...plain, ...over })).status;
      const text = (length: number) => 'x'.repeat(length);
      const atEdge = async (over: (length: number) => object, max: number) => [
        await statusOf(over(max)),
        await statusOf(over(max + 1)),
      ];
      const edges: [over: (length: number) => object, max: number][] = [
        [(length) => ({ name: text(length) }), baseLimits.nameCharsMax],
        [(length) => ({ description: text(length) }), httpLimits.descriptionCharsMax],
        [(length) => ({ system: text(length) }), httpLimits.systemCharsMax],
        [(length) => ({ metadata: { [text(length)]: 'v' } }), httpLimits.metadataKeyCharsMax],
        [(length) => ({ metadata: { k: text(length) } }), httpLimits.metadataValueCharsMax],
        [(length) => ({ metadata: Object.fromEntries(numbers(length).map((n) => [`k${n}`, 'v'])) }), 16],
        [
          (length) => ({ tools: [{ type: 'agent_toolset_20260401' }], skills: skills(length) }),
          httpLimits.agentSkillsMax,
        ],
        [(length) => ({ tools: [webFetch(length)] }), toolLimits.toolDomainsMax],
        [(length) => ({ tools: numbers(length).map(customTool) }), agentLimits.agentToolsMax],
      ];
      for (const [over, max] of edges) {
        expect([JSON.stringify(over(1)), ...(await atEdge(over, max))]).toEqual([JSON.stringify(over(1)), 200, 400]);
      }
      expect(await statusOf({ name: '' })).toBe(400);
    }));

  it('[H53] tools and servers that do not fit together are refused, with the reason for programs', () =>
    withRecords(async ({ client, call }) => {
      const toolset = { type: 'mcp_toolset', mcp_server_name: 'docs' } as const;
      const server = { type: 'url', name: 'docs', url: 'https://mcp.example.com' } as const;
      expect(await outcomeOf(client.beta.agents.create({ ...plain, tools: [toolset] }))).toBe(bad);
      expect(await outcomeOf(client.beta.agents.create({ ...plain, mcp_servers: [server] }))).toBe(bad);
      expect(await outcomeOf(client.beta.agents.create({ ...plain, tools: [toolset], mcp_servers: [server] }))).toBe(
        'ok',
      );
      const tool = { type: 'custom', name: 'no spaces', description: 'd', input_schema: { type: 'object' } };
      const { json } = await call('POST', '/v1/agents', { ...plain, tools: [tool] });
      expect(json.error.details).toEqual({ error_code: 'invalid_tool_name' });
    }));
});

describe('changing', () => {
  it('[H54] only a real change creates a version, and a stale version is a conflict that is not retried', () =>
    withRecords(async ({ client, requests, clock }) => {
      const { id } = await client.beta.agents.create({ ...plain, system: 'old', metadata: { a: '1', b: '2' } });
      clock.advance(1_000);
      const second = await client.beta.agents.update(id, { version: 1, system: 'new' });
      expect(second).toMatchObject({
        version: 2,
        name: 'Researcher',
        system: 'new',
        updated_at: '2026-01-01T00:00:01.000Z',
      });
      expect((await client.beta.agents.update(id, { version: 2, system: 'new' })).version).toBe(2);
      const before = requests.length;
      const retrying = client.withOptions({ maxRetries: 2 });
      await expect(retrying.beta.agents.update(id, { version: 1, system: 'new' })).rejects.toBeInstanceOf(
        ConflictError,
      );
      expect(requests.length).toBe(before + 1);
      // The types of 1.8.0 want a version; older clients leave it out.
      const third = await client.post<{ version: number; metadata: object }>(`/v1/agents/${id}`, {
        body: { metadata: { a: null, c: '3' } },
      });
      expect(third).toMatchObject({ version: 3, metadata: { b: '2', c: '3' } });
    }));

  it('[H54] texts and lists are cleared with null, a name is not cleared', () =>
    withRecords(async ({ client, call }) => {
      const tools = [{ type: 'agent_toolset_20260401' as const }];
      const { id } = await client.beta.agents.create({ ...plain, description: 'd', system: 's', tools });
      const change = async (body: object) => (await call('POST', `/v1/agents/${id}`, body)).json;
      expect(await change({ description: null, system: '' })).toMatchObject({ description: null, system: null });
      expect(await change({ tools: [] })).toMatchObject({ tools: [] });
      expect(await change({ tools })).toMatchObject({ tools: [{ configs: [] }] });
      expect(await change({ tools: null })).toMatchObject({ tools: [], version: 5 });
      for (const body of [{ name: '' }, { name: null }, { model: null }, { model: '' }]) {
        expect(await change(body)).toMatchObject({ error: { type: 'invalid_request_error' } });
      }
    }));

  it('[H55] old versions stay readable, each is listed once, and unknown ones are a 404', () =>
    withRecords(async ({ client }) => {
      const { id } = await client.beta.agents.create(plain);
      for (const version of [1, 2, 3, 4]) await client.beta.agents.update(id, { version, system: `v${version}` });
      expect(await client.beta.agents.retrieve(id, { version: 1 })).toMatchObject({ version: 1, system: null });
      expect(await outcomeOf(client.beta.agents.retrieve(id, { version: 9 }))).toBe('404 not_found_error');
      expect(await outcomeOf(client.beta.agents.retrieve(id, { version: 0 }))).toBe(bad);
      const versions: number[] = [];
      for await (const { version } of client.beta.agents.versions.list(id, { limit: 2 })) versions.push(version);
      expect(versions).toEqual([5, 4, 3, 2, 1]);
      expect(await outcomeOf(client.beta.agents.versions.list('agent_unknown'))).toBe('404 not_found_error');
      expect(await outcomeOf(client.beta.agents.retrieve('agent_unknown'))).toBe('404 not_found_error');
    }));

  it('[H56] an archived agent is hidden, cannot be changed, and can be archived again', () =>
    withRecords(async ({ client }) => {
      const { id } = await client.beta.agents.create(plain);
      const archived = await client.beta.agents.archive(id);
      expect(archived.archived_at).toBe('2026-01-01T00:00:00.000Z');
      expect(await client.beta.agents.archive(id)).toEqual(archived);
      expect(await outcomeOf(client.beta.agents.update(id, { version: 1, system: 'x' }))).toBe(bad);
      expect((await client.beta.agents.list()).data).toEqual([]);
      expect((await client.beta.agents.list({ include_archived: true })).data).toEqual([archived]);
    }));
});

describe('listing', () => {
  it('[H57] the client lists 45 agents once each, while new ones are created', () =>
    withRecords(async ({ client, clock }) => {
      const made = await createMany(client, clock, 45);
      const seen: string[] = [];
      for await (const { id } of client.beta.agents.list({ limit: 20 })) {
        seen.push(id);
        if (seen.length % 10 === 0) await createMany(client, clock, 1);
      }
      expect(seen).toEqual(made.toReversed());
    }));

  it('[H57] a page has 20 agents by default and at most 100, and no page follows the last', () =>
    withRecords(async ({ client, clock, call }) => {
      await createMany(client, clock, 20);
      const page = await client.beta.agents.list();
      expect([page.data.length, page.next_page, page.hasNextPage()]).toEqual([20, null, false]);
      expect(Object.keys((await call('GET', '/v1/agents')).json)).toEqual(['data', 'next_page']);
      await createMany(client, clock, 1);
      const next = await client.beta.agents.list();
      expect([next.data.length, next.next_page]).toEqual([20, expect.stringMatching(/^page_/)]);
      expect((await (await client.beta.agents.list({ limit: 7 })).getNextPage()).data).toHaveLength(7);
      const { recordPageItemsMax: max } = storeLimits;
      expect([max, await outcomeOf(client.beta.agents.list({ limit: max }))]).toEqual([100, 'ok']);
      expect(await outcomeOf(client.beta.agents.list({ limit: max + 1 }))).toBe(bad);
      expect(await outcomeOf(client.beta.agents.list({ limit: 0 }))).toBe(bad);
    }));

  it('[H58] a cursor of another list, or none at all, is a 400; only the number of items may change from page to page', () =>
    withRecords(async ({ client, clock, call }) => {
      await createMany(client, clock, 3);
      const { next_page: page } = await client.beta.agents.list({ limit: 1 });
      expect((await call('GET', `/v1/agents?page=${page}&limit=2`)).json.data).toHaveLength(2);
      for (const path of [
        `/v1/agents?page=${page}&limit=2&include_archived=true`,
        '/v1/agents?page=',
        '/v1/agents?page=x',
        '/v1/agents?page=page_x',
        `/v1/environments?page=${page}`,
      ]) {
        expect([path, (await call('GET', path)).status]).toEqual([path, 400]);
      }
      const before = encodeURIComponent('2025-01-01T00:00:00Z');
      expect((await call('GET', `/v1/agents?page=${page}&created_at[lte]=${before}`)).status).toBe(400);
    }));

  it('[H59] a time of creation is compared exactly, both ends included', () =>
    withRecords(async ({ client, clock, call }) => {
      await createMany(client, clock, 3);
      const countOf = async (query: object) => (await client.beta.agents.list(query)).data.length;
      const at = (ms: string) => `2026-01-01T00:00:00.${ms}Z`;
      // Created at 1, 2 and 3 ms.
      expect(await countOf({ created_at: { gte: at('002') } })).toBe(2);
      expect(await countOf({ created_at: { lte: at('002') } })).toBe(2);
      expect(await countOf({ 'created_at[gte]': at('002'), 'created_at[lte]': at('002') })).toBe(1);
      expect(await countOf({ 'created_at[gte]': at('0020001') })).toBe(1);
      expect(await countOf({ 'created_at[gte]': at('0020000') })).toBe(2);
      expect(await countOf({ 'created_at[lte]': at('0029') })).toBe(2);
      expect(await countOf({ 'created_at[gte]': '2026-01-01T01:00:00.003+01:00' })).toBe(1);
      expect((await call('GET', '/v1/agents?created_at[gte]=yesterday')).status).toBe(400);
    }));
});

describe('rosters', () => {
  it('[H60] members are pinned to their version when the coordinator is saved, and self is the coordinator', () =>
    withRecords(async ({ client }) => {
      const member = await client.beta.agents.create({ ...plain, name: 'Member' });
      const roster = { type: 'coordinator' as const, agents: [member.id, { type: 'self' as const }] };
      const boss = await client.beta.agents.create({ ...plain, name: 'Boss', multiagent: roster });
      expect(boss.multiagent).toEqual({
        type: 'coordinator',
        agents: [
          { type: 'agent', id: member.id, version: 1 },
          { type: 'agent', id: boss.id, version: 1 },
        ],
      });
      await client.beta.agents.update(member.id, { version: 1, system: 'new' });
      const pinned = async () => {
        const { multiagent } = await client.beta.agents.retrieve(boss.id);
        return multiagent?.type === 'coordinator' ? multiagent.agents[0] : undefined;
      };
      expect(await pinned()).toMatchObject({ version: 1 });
      await client.beta.agents.update(boss.id, { version: 1, multiagent: roster });
      expect(await pinned()).toMatchObject({ version: 2 });
      const cleared = await client.beta.agents.update(boss.id, { version: 2, multiagent: null });
      expect(cleared.multiagent).toBeNull();
    }));

  it('[H61] an invalid roster is a 400, and so is an unknown member', () =>
    withRecords(async ({ client, call, clock }) => {
      const [first, second] = await createMany(client, clock, 2);
      const boss = await client.beta.agents.create({
        ...plain,
        name: 'Boss',
        multiagent: { type: 'coordinator', agents: [first!] },
      });
      const codeOf = async (agents: unknown) => {
        const body = { ...plain, name: 'Chief', multiagent: { type: 'coordinator', agents } };
        const { status, json } = await call('POST', '/v1/agents', body);
        return `${status} ${json.error?.details.error_code ?? 'ok'}`;
      };
      expect(await codeOf([first, second])).toBe('200 ok');
      expect(await codeOf(['agent_unknown'])).toBe('400 roster_member_not_found');
      expect(await codeOf([])).toMatch(/^400 /);
      expect(await codeOf(Array.from({ length: 21 }, () => first))).toMatch(/^400 /);
      expect(await codeOf([first, { type: 'agent', id: first }])).toBe('400 roster_member_repeated');
      expect(await codeOf([{ type: 'self' }, { type: 'self' }])).toMatch(/^400 /);
      expect(await codeOf([boss.id])).toBe('400 roster_member_delegates');
      await client.beta.agents.archive(second!);
      expect(await codeOf([second])).toBe('400 roster_member_archived');
      expect((await call('POST', '/v1/agents', { ...plain, tools: [{ type: 'coordinator' }] })).status).toBe(400);
    }));

  it('[H62] the newer form is a roster too, and workflows are refused clearly', () =>
    withRecords(async ({ client, clock }) => {
      const [member] = await createMany(client, clock, 1);
      const create = (more: object) =>
        client.beta.agents.create({
          ...plain,
          name: 'Boss',
          multiagent: {
            type: 'multiagent_20261001',
            subagents: {
              type: 'enabled',
              predefined_agents: [member!],
              inline_agents: { type: 'disabled' },
            },
            ...more,
          },
        });
      const boss = await create({ workflows: { type: 'disabled' } });
      agentForm.parse(boss);
      expect(boss.multiagent).toMatchObject({
        subagents: { type: 'enabled', predefined_agents: [{ type: 'agent', id: member, version: 1 }] },
        workflows: { type: 'disabled' },
        advisor: { type: 'disabled' },
      });
      expect(await outcomeOf(create({ workflows: { type: 'enabled' } }))).toBe(bad);
    }));
});

it('[H63] agents of another workspace do not exist', () =>
  withRecords(async ({ client, stranger }) => {
    const { id } = await client.beta.agents.create(plain);
    const { agents } = stranger.beta;
    const attempts = [
      () => agents.retrieve(id),
      () => agents.update(id, { version: 1, system: 'x' }),
      () => agents.archive(id),
      () => agents.versions.list(id),
    ];
    for (const attempt of attempts) expect(await outcomeOf(attempt())).toBe('404 not_found_error');
    expect((await agents.list({ include_archived: true })).data).toEqual([]);
    const roster = { type: 'coordinator' as const, agents: [id] };
    expect(await outcomeOf(agents.create({ ...plain, name: 'Boss', multiagent: roster }))).toBe(bad);
    expect(await outcomeOf(client.beta.agents.retrieve(id))).toBe('ok');
  }));

it('[H5] an id of another kind is a 404', () =>
  withRecords(async ({ client }) => {
    const { id } = await client.beta.environments.create({ name: 'here' });
    expect(await outcomeOf(client.beta.agents.retrieve(id))).toBe('404 not_found_error');
  }));

/** Creates agents a millisecond apart, and returns their ids in that order. */
async function createMany(
  client: RecordsServer['client'],
  clock: RecordsServer['clock'],
  count: number,
): Promise<readonly string[]> {
  const made: string[] = [];
  for (let index = 0; index < count; index++) {
    clock.advance(1);
    made.push((await client.beta.agents.create({ ...plain, name: `Agent ${clock.now()}` })).id);
  }
  return made;
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function skills(count: number): object[] {
  return numbers(count).map((index) => ({ type: 'custom', skill_id: `skill_${index}` }));
}

function customTool(index: number): object {
  return { type: 'custom', name: `tool_${index}`, description: 'd', input_schema: { type: 'object' } };
}

function webFetch(domains: number): object {
  const allowed = numbers(domains).map((index) => `${index}.example.com`);
  return { type: 'agent_toolset_20260401', configs: [{ name: 'web_fetch', allowed_domains: allowed }] };
}
