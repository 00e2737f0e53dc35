import type {
  AgentCreateParams,
  BuiltInToolConfigParams,
  CustomTool,
  McpServer,
  ToolParams,
} from '@fleetloom/protocol/managed-agents';
import { builtInToolNames } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { agentLimits } from './limits.ts';
import { baseLimits } from '../base/limits.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import type { Agents } from './agents.ts';
import { model, onEachStore, workspaceId } from './sample.suite.ts';

const allow = { type: 'always_allow' } as const;
const ask = { type: 'always_ask' } as const;
const toolset = { type: 'agent_toolset_20260401' } as const;

onEachStore((withAgents) => {
  it(
    '[A6] the built-in tools are returned enabled and allowed, with no configs',
    withAgents(async ({ agents }) => {
      const filled = { ...toolset, default_config: { enabled: true, permission_policy: allow }, configs: [] };
      expect(await toolsOf(agents, [toolset])).toEqual([filled]);
      expect(await toolsOf(agents, [{ ...toolset, default_config: null, configs: [] }])).toEqual([filled]);
      const nothing = { enabled: null, permission_policy: null };
      expect(await toolsOf(agents, [{ ...toolset, default_config: nothing }])).toEqual([filled]);
    }),
  );

  it(
    '[A6] a config is returned with its type, and takes absent fields from the defaults of its set',
    withAgents(async ({ agents }) => {
      const default_config = { enabled: false, permission_policy: ask };
      const configs: BuiltInToolConfigParams[] = [
        { name: 'bash' },
        { name: 'read', enabled: true },
        { name: 'grep', type: 'grep', enabled: null, permission_policy: { type: 'auto' } },
      ];
      expect(await toolsOf(agents, [{ ...toolset, default_config, configs }])).toEqual([
        {
          ...toolset,
          default_config,
          configs: [
            { name: 'bash', type: 'bash', enabled: false, permission_policy: ask },
            { name: 'read', type: 'read', enabled: true, permission_policy: ask },
            { name: 'grep', type: 'grep', enabled: false, permission_policy: { type: 'auto' } },
          ],
        },
      ]);
    }),
  );

  it(
    '[U85] the schema of a custom tool has at most 500 levels: a deeper one could be read but not written',
    withAgents(async ({ agents }) => {
      const nested = (levels: number) => {
        const json = `{"type":"object","properties":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;
        return { ...custom('form'), input_schema: JSON.parse(json) as CustomTool['input_schema'] };
      };
      expect(await refusal(agents, [nested(100_000)])).toBe('invalid_tool_schema');
      expect(await refusal(agents, [nested(baseLimits.contentDepthMax + 1)])).toBe('invalid_tool_schema');
      const whole = nested(baseLimits.contentDepthMax);
      expect(await toolsOf(agents, [whole])).toEqual([whole]);
    }),
  );

  it(
    '[A7] calls of MCP tools need an approval unless the agent sets another policy',
    withAgents(async ({ agents }) => {
      const mcp_servers = [server('a')];
      const set = { type: 'mcp_toolset', mcp_server_name: 'a' } as const;
      expect(await toolsOf(agents, [set], { mcp_servers })).toEqual([
        { ...set, default_config: { enabled: true, permission_policy: ask }, configs: [] },
      ]);
      const configs = [{ name: 'search', permission_policy: allow }, { name: 'delete' }];
      expect(await toolsOf(agents, [{ ...set, default_config: { enabled: false }, configs }], { mcp_servers })).toEqual(
        [
          {
            ...set,
            default_config: { enabled: false, permission_policy: ask },
            configs: [
              { name: 'search', enabled: false, permission_policy: allow },
              { name: 'delete', enabled: false, permission_policy: ask },
            ],
          },
        ],
      );
    }),
  );

  it(
    '[A8] a custom tool is returned as sent, and its name is 1 to 128 letters, digits, underscores and hyphens',
    withAgents(async ({ agents }) => {
      const schema = {
        type: 'object',
        properties: { q: { type: 'string' } },
        required: ['q'],
        $defs: { x: {} },
      } as const;
      const tool = { ...custom('look-up_2'), input_schema: schema };
      expect(await toolsOf(agents, [tool])).toEqual([tool]);
      expect(await refusal(agents, [custom('x'.repeat(baseLimits.toolNameCharsMax))])).toBe('ok');
      for (const name of ['', 'a b', 'ä', 'a.b', 'a\n', 'x'.repeat(baseLimits.toolNameCharsMax + 1)]) {
        expect(await refusal(agents, [custom(name)])).toBe('invalid_tool_name');
      }
    }),
  );

  it(
    '[A9] no tool, no toolset and no config is there twice',
    withAgents(async ({ agents }) => {
      const set = { type: 'mcp_toolset', mcp_server_name: 'a' } as const;
      const mcp_servers = [server('a'), server('b')];
      const other = { type: 'mcp_toolset', mcp_server_name: 'b', configs: [{ name: 'x' }] } as const;
      expect(await refusal(agents, [{ ...set, configs: [{ name: 'x' }] }, other], { mcp_servers })).toBe('ok');
      expect(await refusal(agents, [set, set], { mcp_servers: [server('a')] })).toBe('tool_repeated');
      expect(await refusal(agents, [toolset, toolset])).toBe('tool_repeated');
      expect(await refusal(agents, [custom('a'), custom('a')])).toBe('tool_repeated');
      expect(await refusal(agents, [{ ...toolset, configs: [{ name: 'bash' }, { name: 'bash' }] }])).toBe(
        'tool_repeated',
      );
      const twice = [{ name: 'x' }, { name: 'x' }];
      expect(await refusal(agents, [{ ...set, configs: twice }], { mcp_servers: [server('a')] })).toBe('tool_repeated');
    }),
  );

  it(
    '[A9] a custom tool has no name that a built-in tool of the agent or a tool for delegating has',
    withAgents(async ({ agents }) => {
      expect(await refusal(agents, [custom('bash')])).toBe('ok');
      expect(await refusal(agents, [toolset, custom('bash')])).toBe('tool_name_taken');
      const off = { ...toolset, configs: [{ name: 'bash', enabled: false }] } as const;
      expect(await refusal(agents, [off, custom('bash')])).toBe('ok');
      expect(await refusal(agents, [off, custom('read')])).toBe('tool_name_taken');
      const multiagent = { type: 'coordinator', agents: [{ type: 'self' }] } as const;
      for (const name of ['list_agents', 'send_to_agent', 'delegate']) {
        expect(await refusal(agents, [custom(name)])).toBe('ok');
        expect(await refusal(agents, [custom(name)], { multiagent })).toBe('tool_name_taken');
      }
      const disabled = { type: 'multiagent_20261001', subagents: { type: 'disabled' } } as const;
      expect(await refusal(agents, [custom('delegate')], { multiagent: disabled })).toBe('ok');
    }),
  );

  it(
    '[A10] an agent has at most 256 tools, including the eight built-in ones and those of servers',
    withAgents(async ({ agents }) => {
      const customs = (count: number) => Array.from({ length: count }, (_, at) => custom(`t${at}`));
      const max = agentLimits.agentToolsMax;
      expect(await refusal(agents, customs(max))).toBe('ok');
      expect(await refusal(agents, customs(max + 1))).toBe('too_many_tools');
      expect(await refusal(agents, [toolset, ...customs(max - builtInToolNames.length)])).toBe('ok');
      expect(await refusal(agents, [toolset, ...customs(max - builtInToolNames.length + 1)])).toBe('too_many_tools');
      const set = { type: 'mcp_toolset', mcp_server_name: 'a' } as const;
      const mcp_servers = [server('a')];
      expect(await refusal(agents, [set, ...customs(max - 1)], { mcp_servers })).toBe('ok');
      expect(await refusal(agents, [set, ...customs(max)], { mcp_servers })).toBe('too_many_tools');
      const configured = { ...set, configs: [{ name: 'x' }, { name: 'y' }] };
      expect(await refusal(agents, [configured, ...customs(max - 2)], { mcp_servers })).toBe('ok');
      expect(await refusal(agents, [configured, ...customs(max - 1)], { mcp_servers })).toBe('too_many_tools');
    }),
  );

  it(
    '[A11] every MCP server has a toolset, every toolset a server, and servers have names of their own',
    withAgents(async ({ agents }) => {
      const set = (name: string) => ({ type: 'mcp_toolset', mcp_server_name: name }) as const;
      expect(await refusal(agents, [set('a')])).toBe('mcp_server_unknown');
      expect(await refusal(agents, [set('b')], { mcp_servers: [server('a')] })).toBe('mcp_server_unknown');
      expect(await refusal(agents, [], { mcp_servers: [server('a')] })).toBe('mcp_server_unused');
      expect(await refusal(agents, [set('a')], { mcp_servers: [server('a'), server('a')] })).toBe(
        'mcp_server_repeated',
      );
      const made = await agents.create(workspaceId, {
        name: 'R',
        model,
        tools: [set('a')],
        mcp_servers: [server('a')],
      });
      expect(made.mcp_servers).toEqual([server('a')]);
      // An update is checked together with what it leaves as it was.
      expect(await codeOf(agents.update(workspaceId, made.id, { tools: null }))).toBe('mcp_server_unused');
      expect(await codeOf(agents.update(workspaceId, made.id, { mcp_servers: [] }))).toBe('mcp_server_unknown');
      expect(await codeOf(agents.update(workspaceId, made.id, { mcp_servers: [], tools: [] }))).toBe('ok');
    }),
  );

  it(
    '[A11] an agent has at most 20 MCP servers',
    withAgents(async ({ agents }) => {
      const names = Array.from({ length: agentLimits.mcpServersMax + 1 }, (_, at) => `s${at}`);
      const sets = names.map((name) => ({ type: 'mcp_toolset', mcp_server_name: name }) as const);
      const servers = names.map(server);
      expect(await refusal(agents, sets.slice(1), { mcp_servers: servers.slice(1) })).toBe('ok');
      expect(await refusal(agents, sets, { mcp_servers: servers })).toBe('too_many_mcp_servers');
    }),
  );

  it(
    '[A12] the web tools are returned with their options, sources in their long form',
    withAgents(async ({ agents }) => {
      const tools = [{ type: 'tool_reference', name: 'ask' }] as const;
      const configs: BuiltInToolConfigParams[] = [
        {
          name: 'web_fetch',
          allowed_domains: ['example.com'],
          max_content_tokens: 100,
          url_sources: { user_input: 'all', client_tool_results: { type: 'only', tools } },
        },
        { name: 'web_search', blocked_domains: ['x.org'], user_location: { type: 'approximate', country: 'CH' } },
      ];
      const filled = { enabled: true, permission_policy: allow };
      expect(await toolsOf(agents, [{ ...toolset, configs }, custom('ask')])).toMatchObject([
        {
          configs: [
            {
              name: 'web_fetch',
              type: 'web_fetch',
              ...filled,
              allowed_domains: ['example.com'],
              max_content_tokens: 100,
              url_sources: {
                user_input: { type: 'all' },
                client_tool_results: { type: 'only', tools },
                server_tool_results: null,
              },
            },
            {
              name: 'web_search',
              type: 'web_search',
              ...filled,
              blocked_domains: ['x.org'],
              user_location: { type: 'approximate', country: 'CH' },
            },
          ],
        },
        custom('ask'),
      ]);
      const plain = await toolsOf(agents, [{ ...toolset, configs: [{ name: 'web_fetch' }] }]);
      expect(plain).toMatchObject([
        { configs: [{ name: 'web_fetch', type: 'web_fetch', ...filled, url_sources: null }] },
      ]);
    }),
  );

  it(
    '[A12] domains are either allowed or blocked, and sources name tools that there are and leave one open',
    withAgents(async ({ agents }) => {
      const config = (given: BuiltInToolConfigParams) =>
        refusal(agents, [{ ...toolset, configs: [given] }, custom('ask')]);
      const both = { allowed_domains: ['a.org'], blocked_domains: ['b.org'] };
      expect(await config({ name: 'web_fetch', ...both })).toBe('invalid_domains');
      expect(await config({ name: 'web_search', ...both })).toBe('invalid_domains');
      expect(await config({ name: 'web_search', allowed_domains: [] })).toBe('invalid_domains');
      expect(await config({ name: 'web_fetch', blocked_domains: [] })).toBe('invalid_domains');
      const named = (name: string) => ({ type: 'except', tools: [{ type: 'tool_reference', name }] }) as const;
      const sources = (url_sources: object) => config({ name: 'web_fetch', url_sources });
      expect(await sources({ client_tool_results: named('ask') })).toBe('ok');
      expect(await sources({ client_tool_results: named('web_search') })).toBe('invalid_url_sources');
      expect(await sources({ server_tool_results: named('web_search') })).toBe('ok');
      expect(await sources({ server_tool_results: named('ask') })).toBe('invalid_url_sources');
      const closed = { user_input: 'none', client_tool_results: { type: 'none' } };
      expect(await sources({ ...closed, server_tool_results: 'all' })).toBe('ok');
      expect(await sources(closed)).toBe('ok');
      expect(await sources({ ...closed, server_tool_results: 'none' })).toBe('invalid_url_sources');
    }),
  );

  it(
    '[A13] skills are returned with a version, and need the read tool',
    withAgents(async ({ agents }) => {
      const skills = [
        { type: 'anthropic', skill_id: 'xlsx' },
        { type: 'custom', skill_id: 'skill_1', version: '3' },
        { type: 'custom', skill_id: 'skill_2', version: null },
      ] as const;
      const made = await agents.create(workspaceId, { name: 'R', model, tools: [toolset], skills });
      expect(made.skills).toEqual([
        { type: 'anthropic', skill_id: 'xlsx', version: 'latest' },
        { type: 'custom', skill_id: 'skill_1', version: '3' },
        { type: 'custom', skill_id: 'skill_2', version: 'latest' },
      ]);
      expect(await refusal(agents, [], { skills })).toBe('skills_need_read');
      const off = { ...toolset, configs: [{ name: 'read', enabled: false }] } as const;
      expect(await refusal(agents, [off], { skills })).toBe('skills_need_read');
      const only = {
        ...toolset,
        default_config: { enabled: false },
        configs: [{ name: 'read', enabled: true }],
      } as const;
      expect(await refusal(agents, [only], { skills })).toBe('ok');
      expect(await codeOf(agents.update(workspaceId, made.id, { tools: [] }))).toBe('skills_need_read');
      expect(await codeOf(agents.update(workspaceId, made.id, { tools: [], skills: [] }))).toBe('ok');
    }),
  );
});

async function toolsOf(agents: Agents, tools: readonly ToolParams[], more: Partial<AgentCreateParams> = {}) {
  return (await agents.create(workspaceId, { name: 'R', model, tools, ...more })).tools;
}

function refusal(agents: Agents, tools: readonly ToolParams[], more: Partial<AgentCreateParams> = {}) {
  return codeOf(toolsOf(agents, tools, more));
}

function custom(name: string): CustomTool {
  return { type: 'custom', name, description: 'd', input_schema: { type: 'object' } };
}

function server(name: string): McpServer {
  return { type: 'url', name, url: 'http://localhost:1/mcp' };
}
