import type { Agent, AgentToolset, McpToolset, Tool } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { describeVersion } from './describe-version.ts';
import { rosterOf, toRosterParams } from './roster.ts';
import { askForAll, policyOf, toPolicy, withPolicy, withServerPolicy } from './tool-policies.ts';

const web = {
  name: 'web_fetch',
  type: 'web_fetch',
  enabled: true,
  permission_policy: { type: 'auto' },
  url_sources: null,
  allowed_domains: ['example.com'],
} as const;
const set: AgentToolset = { ...askForAll, configs: [web] };
const docs: McpToolset = {
  type: 'mcp_toolset',
  mcp_server_name: 'docs',
  default_config: set.default_config,
  configs: [],
};

it('[Z421] changing the policy of one tool keeps its options, its permission while denied, and all other tools', () => {
  expect([policyOf([set], 'bash'), policyOf([set], 'web_fetch'), policyOf([], 'bash')]).toEqual([
    'ask',
    'auto',
    'deny',
  ]);
  const denied = withPolicy([set, docs], 'web_fetch', 'deny');
  expect(denied).toEqual([{ ...set, configs: [{ ...web, enabled: false }] }, docs]);
  expect(withPolicy(denied, 'web_fetch', 'auto')).toEqual([set, docs]);
  const allowed = withPolicy([set], 'bash', 'allow');
  expect([policyOf(allowed, 'bash'), policyOf(allowed, 'read')]).toEqual(['allow', 'ask']);
  // An agent without built-in tools gets the one that is allowed, and no other.
  expect(withPolicy([], 'bash', 'deny')).toEqual([]);
  const one = withPolicy([], 'grep', 'allow');
  expect([policyOf(one, 'grep'), policyOf(one, 'bash')]).toEqual(['allow', 'deny']);
  const [, server] = withServerPolicy([set, docs], docs, 'allow');
  expect(toPolicy((server as McpToolset).default_config)).toBe('allow');
});

it('[Z422] two versions are compared as text with one fact per line: model, policies, options, roster and prompt', () => {
  const custom: Tool = { type: 'custom', name: 'look_up', description: '', input_schema: { type: 'object' } };
  const agent = {
    name: 'lead',
    model: { id: 'm', effort: { type: 'high' }, speed: 'standard' },
    description: null,
    system: 'One.\nTwo.',
    tools: [set, docs, custom],
    mcp_servers: [{ type: 'url', name: 'docs', url: 'https://example.com/' }],
    skills: [],
    metadata: { team: 'a' },
    multiagent: { type: 'coordinator', agents: [{ type: 'agent', id: 'agent_2', version: 3, isolation: 'worktree' }] },
  } as unknown as Agent;
  const text = describeVersion(agent, (id) => id.toUpperCase());
  for (const line of [
    'model: m',
    'tool bash: ask',
    'tool web_fetch: ask if unsure',
    'options of web_fetch: {"allowed_domains":["example.com"]}',
    'tools of docs: ask',
    'custom tool look_up: {"type":"object"}',
    'delegates to: AGENT_2 v3, worktree',
    'metadata team: a',
    'Two.',
  ])
    expect(text.split('\n')).toContain(line);
});

it('[Z423] a roster is sent in the form that the agent has, with the versions and worktrees of its members', () => {
  const member = { type: 'agent', id: 'agent_2', version: 3, isolation: 'worktree' } as const;
  const second = {
    type: 'multiagent_20261001',
    subagents: { type: 'enabled', predefined_agents: [member], inline_agents: { type: 'disabled' } },
    workflows: { type: 'disabled' },
    advisor: { type: 'disabled' },
  } as const;
  expect(rosterOf({ multiagent: second })).toEqual([member]);
  expect(toRosterParams({ multiagent: second }, [member])).toEqual({
    type: 'multiagent_20261001',
    subagents: { type: 'enabled', predefined_agents: [member] },
  });
  expect(toRosterParams({ multiagent: null }, [member])).toEqual({ type: 'coordinator', agents: [member] });
  expect(toRosterParams({ multiagent: second }, [])).toBeNull();
});
