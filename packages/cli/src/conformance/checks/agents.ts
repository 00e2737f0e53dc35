import { check, defineChecks } from '../harness/check.ts';
import type { Context } from '../harness/context.ts';
import { expectEqual, expectRefused, expectThat } from '../harness/expect.ts';

export const agentChecks = defineChecks('Agents', [
  check(
    19,
    'C',
    'An agent created with a name and a model has version 1, all keys, tools [] and multiagent null',
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
]);

function post(t: Context, path: string, body: object) {
  return t.raw({ method: 'POST', path: `/v1/agents${path}`, body });
}

function withoutModel(agent: object): object {
  return Object.fromEntries(Object.entries(withoutRequestId(agent)).filter(([key]) => key !== 'model'));
}

/** Fields that the SDK adds to each response. */
export function withoutRequestId(answer: object): object {
  return Object.fromEntries(Object.entries(answer).filter(([key]) => key !== '_request_id'));
}
