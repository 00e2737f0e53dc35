import type Anthropic from '@anthropic-ai/sdk';
import { check, defineChecks } from '../check.ts';
import type { Context } from '../context.ts';
import { expectEqual, expectRefusal, expectRefused, expectThat } from '../expect.ts';

const UNKNOWN = 'agent_01AAAAAAAAAAAAAAAAAAAAAA';

export const agentChecks = defineChecks('Agents', [
  check(
    19,
    'C',
    'An agent of a name and a model has version 1, all keys, tools [] and multiagent null',
    [],
    async (t) => {
      const agent = await t.client.beta.agents.create({ name: 'plain', model: 'scripted/echo' });
      t.agentIds.push(agent.id);
      const { id, created_at, updated_at, ...rest } = agent;
      expectEqual(created_at, updated_at, 'updated_at of a new agent');
      expectEqual(
        withoutModel(rest),
        {
          type: 'agent',
          version: 1,
          name: 'plain',
          description: null,
          system: null,
          tools: [],
          mcp_servers: [],
          skills: [],
          multiagent: null,
          metadata: {},
          execution_identity: { type: 'service_account' },
          archived_at: null,
        },
        'the agent',
      );
      expectEqual(withoutRequestId(await t.client.beta.agents.retrieve(id)), withoutRequestId(agent), 'what is read');
    },
  ),

  check(20, 'C', 'A model given as text comes back as an object with effort.type and speed', [], async (t) => {
    const { model } = await t.agent({ model: 'scripted/echo' });
    expectEqual(model.id, 'scripted/echo', 'model.id');
    expectThat(typeof model.effort?.type === 'string', 'model.effort.type', model);
    expectEqual(model.speed, 'standard', 'model.speed');
  }),

  check(21, 'C', 'An effort as text and as object are both accepted, and answered as object', [], async (t) => {
    for (const effort of ['high', { type: 'high' }] as const) {
      const { model } = await t.agent({ model: { id: 'scripted/echo', effort } });
      expectEqual(model.effort, { type: 'high' }, 'model.effort');
    }
  }),

  check(22, 'C', 'Without a name or a model it is 400', [], async (t) => {
    expectRefused(await post(t, '', { model: 'scripted/echo' }), 400, 'no name', /name/);
    expectRefused(await post(t, '', { name: 'x' }), 400, 'no model', /model/);
  }),

  check(23, 'E', 'A name of more than 256 characters is 400', [], async (t) => {
    expectRefused(await post(t, '', { name: 'x'.repeat(257), model: 'scripted/echo' }), 400, '257 characters', /name/);
    expectEqual((await t.agent({ name: 'x'.repeat(256) })).name.length, 256, 'characters');
  }),

  check(24, 'C', 'A bare toolset comes back enabled, always_allow and with no configs', [], async (t) => {
    const { tools } = await t.agent({ tools: [{ type: 'agent_toolset_20260401' }] });
    const default_config = { enabled: true, permission_policy: { type: 'always_allow' } };
    expectEqual(tools, [{ type: 'agent_toolset_20260401', default_config, configs: [] }], 'tools');
  }),

  check(25, 'C', 'A config without a type comes back with it', [], async (t) => {
    const configs = [{ name: 'bash', permission_policy: { type: 'always_ask' } }] as const;
    const { tools } = await t.agent({ tools: [{ type: 'agent_toolset_20260401', configs: configs as never }] });
    const [toolset] = tools as unknown as [{ configs: unknown }];
    const filled = { name: 'bash', type: 'bash', enabled: true, permission_policy: { type: 'always_ask' } };
    expectEqual(toolset.configs, [filled], 'configs');
  }),

  check(26, 'E', 'MCP servers and toolsets must name each other', [], async (t) => {
    const mcp_servers = [{ type: 'url', name: 'docs', url: 'https://mcp.example.com' }];
    const model = 'scripted/echo';
    const tools = [{ type: 'mcp_toolset', mcp_server_name: 'docs' }];
    expectRefused(await post(t, '', { name: 'x', model, tools }), 400, 'a toolset of no server', /docs/);
    expectRefused(await post(t, '', { name: 'x', model, mcp_servers }), 400, 'a server of no toolset', /docs/);
  }),

  check(27, 'E', 'The policy of an MCP toolset is always_ask unless said otherwise', [], async (t) => {
    const { tools } = await t.agent({
      mcp_servers: [{ type: 'url', name: 'docs', url: 'https://mcp.example.com' }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }],
    });
    const default_config = { enabled: true, permission_policy: { type: 'always_ask' } };
    expectEqual(tools, [{ type: 'mcp_toolset', mcp_server_name: 'docs', default_config, configs: [] }], 'tools');
  }),

  check(28, 'C', 'A custom tool with a bad name is 400', [], async (t) => {
    for (const name of ['', 'with space', 'a.b', 'x'.repeat(129), 'ü']) {
      const tools = [{ type: 'custom', name, description: 'x', input_schema: { type: 'object' } }];
      expectRefused(await post(t, '', { name: 'x', model: 'scripted/echo', tools }), 400, JSON.stringify(name));
    }
  }),

  check(29, 'C', 'An update of one field makes version 2 and leaves the others', [], async (t) => {
    const agent = await t.agent({ description: 'before', metadata: { a: '1' } });
    const updated = await t.client.beta.agents.update(agent.id, { version: 1, description: 'after' });
    const expected = { ...agent, version: 2, description: 'after', updated_at: updated.updated_at };
    expectEqual(withoutRequestId(updated), withoutRequestId(expected), 'the agent');
  }),

  check(30, 'C', 'An update that changes nothing keeps the version', [], async (t) => {
    const agent = await t.agent({ description: 'same' });
    const updated = await t.client.beta.agents.update(agent.id, { version: 1, description: 'same', name: agent.name });
    expectEqual(withoutRequestId(updated), withoutRequestId(agent), 'the agent');
  }),

  check(31, 'C', 'An update with a stale version is 409, even if it changes nothing', [], async (t) => {
    const agent = await t.agent();
    await t.client.beta.agents.update(agent.id, { version: 1, description: 'new' });
    await expectRefusal(t.client.beta.agents.update(agent.id, { version: 1, name: 'new' }), 409, 'a stale version');
    await expectRefusal(t.client.beta.agents.update(agent.id, { version: 1 }), 409, 'a stale version without changes');
  }),

  check(32, 'C', 'An update without a version is applied', [], async (t) => {
    const { id } = await t.agent();
    const answer = await post(t, `/${id}`, { description: 'new' });
    expectEqual([answer.status, answer.json.version, answer.json.description], [200, 2, 'new'], 'the agent');
  }),

  check(33, 'C', 'A description is cleared with null; an empty name is 400', [], async (t) => {
    const { id } = await t.agent({ description: 'x', system: 'y' });
    const cleared = await t.client.beta.agents.update(id, { version: 1, description: null, system: null });
    expectEqual([cleared.description, cleared.system], [null, null], 'description and system');
    expectRefused(await post(t, `/${id}`, { name: '' }), 400, 'an empty name', /name/);
    expectRefused(await post(t, `/${id}`, { model: null }), 400, 'a model of null', /model/);
  }),

  check(34, 'C', 'Tools are cleared with [] and with null', [], async (t) => {
    for (const tools of [[], null]) {
      const { id } = await t.agent({ tools: [{ type: 'agent_toolset_20260401' }] });
      expectEqual(
        (await t.client.beta.agents.update(id, { version: 1, tools })).tools,
        [],
        `tools ${JSON.stringify(tools)}`,
      );
    }
  }),

  check(35, 'C', 'A key of the metadata is removed with null, and the others stay', [], async (t) => {
    const { id } = await t.agent({ metadata: { a: '1', b: '2' } });
    const updated = await t.client.beta.agents.update(id, { version: 1, metadata: { a: null, c: '3' } });
    expectEqual(updated.metadata, { b: '2', c: '3' }, 'metadata');
  }),

  check(36, 'E', '17 pairs of metadata are 400', [], async (t) => {
    const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
    const body = { name: 'x', model: 'scripted/echo' };
    expectRefused(await post(t, '', { ...body, metadata: pairs(17) }), 400, '17 pairs', /metadata/);
    expectEqual(Object.keys((await t.agent({ metadata: pairs(16) })).metadata).length, 16, 'pairs');
  }),

  check(37, 'C', 'An old version can still be read', [], async (t) => {
    const agent = await t.agent({ description: 'first' });
    await t.client.beta.agents.update(agent.id, { version: 1, description: 'second' });
    const old = await t.client.beta.agents.retrieve(agent.id, { version: 1 });
    expectEqual([old.version, old.description], [1, 'first'], 'version 1');
    expectEqual((await t.client.beta.agents.retrieve(agent.id)).description, 'second', 'the newest');
  }),

  check(38, 'C', 'An unknown version, and an unknown agent, is 404', [], async (t) => {
    const { id } = await t.agent();
    await expectRefusal(t.client.beta.agents.retrieve(id, { version: 2 }), 404, 'version 2 of 1');
    await expectRefusal(t.client.beta.agents.retrieve(UNKNOWN), 404, 'an unknown agent');
  }),

  check(39, 'C', 'versions.list gives every version once', [], async (t) => {
    const { id } = await t.agent();
    for (let version = 1; version < 5; version += 1) {
      await t.client.beta.agents.update(id, { version, description: `after ${version}` });
    }
    const versions: number[] = [];
    for await (const each of t.client.beta.agents.versions.list(id, { limit: 2 })) versions.push(each.version);
    expectEqual(
      versions.toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5],
      'versions',
    );
  }),

  check(40, 'C', 'Archiving sets archived_at, and a second time changes nothing', [], async (t) => {
    const { id } = await t.agent();
    const first = await t.client.beta.agents.archive(id);
    expectThat(first.archived_at !== null, 'archived_at', first.archived_at);
    expectEqual((await t.client.beta.agents.archive(id)).archived_at, first.archived_at, 'archived_at');
  }),

  check(41, 'C', 'An update of an archived agent is 400', [], async (t) => {
    const { id } = await t.agent();
    await t.client.beta.agents.archive(id);
    await expectRefusal(t.client.beta.agents.update(id, { version: 1, name: 'new' }), 400, 'an archived agent');
  }),

  check(42, 'C', 'Archived agents are listed only with include_archived', [], async (t) => {
    const { id, created_at } = await t.agent();
    await t.client.beta.agents.archive(id);
    const around = { 'created_at[gte]': created_at, 'created_at[lte]': created_at };
    expectThat(!(await idsOf(t, around)).includes(id), 'an archived agent to be hidden', id);
    expectThat((await idsOf(t, { ...around, include_archived: true })).includes(id), 'it with include_archived', id);
  }),

  check(43, 'C', '45 agents in pages of 20 come without gaps or repeats while others are made', [], async (t) => {
    const wanted = (await Promise.all(Array.from({ length: 45 }, () => t.agent()))).map(({ id }) => id);
    const seen: string[] = [];
    for await (const { id } of t.client.beta.agents.list({ limit: 20 })) {
      seen.push(id);
      if (seen.length % 15 === 0) await t.agent();
      if (wanted.every((each) => seen.includes(each))) break;
    }
    expectEqual(seen.length, new Set(seen).size, 'each agent once');
    expectEqual(seen.filter((id) => wanted.includes(id)).toSorted(), wanted.toSorted(), 'all of them');
  }),
]);

function post(t: Context, path: string, body: object) {
  return t.raw({ method: 'POST', path: `/v1/agents${path}`, body });
}

async function idsOf(t: Context, params: Anthropic.Beta.AgentListParams): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of t.client.beta.agents.list(params)) ids.push(id);
  return ids;
}

function withoutModel(agent: object): object {
  return Object.fromEntries(Object.entries(withoutRequestId(agent)).filter(([key]) => key !== 'model'));
}

/** What the SDK adds to each answer itself. */
export function withoutRequestId(answer: object): object {
  return Object.fromEntries(Object.entries(answer).filter(([key]) => key !== '_request_id'));
}
