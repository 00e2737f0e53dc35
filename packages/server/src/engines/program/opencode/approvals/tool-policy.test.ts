import { expect, it } from 'vitest';
import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { agent, toolset } from '../../suite/conversation.suite.ts';
import { findServerNameProblem, toToolPolicy } from './tool-policy.ts';

const always = (type: 'always_allow' | 'always_ask', enabled = true) => ({ enabled, permission_policy: { type } });

it('[OC17] the definition decides for each tool of opencode whether it is allowed, needs an approval or is denied', () => {
  const tools: AgentSnapshot['tools'] = [
    {
      type: 'agent_toolset_20260401',
      default_config: always('always_ask'),
      configs: [
        { type: 'read', name: 'read', ...always('always_allow') },
        { type: 'web_fetch', name: 'web_fetch', url_sources: null, ...always('always_ask', false) },
      ],
    },
  ];
  const { toolOf, permissions } = toToolPolicy(agent({ tools }));
  expect(['bash', 'read', 'webfetch', 'something_new', 'todowrite'].map(toolOf)).toEqual([
    { kind: 'builtin', permission: 'ask' },
    { kind: 'builtin', permission: 'allow' },
    { kind: 'builtin', permission: 'deny' },
    { kind: 'builtin', permission: 'ask' },
    { kind: 'builtin', permission: 'allow' },
  ]);
  expect(permissions).toMatchObject({ '*': 'ask', bash: 'ask', read: 'allow', webfetch: 'deny', todowrite: 'allow' });
  expect(toolOf('task')).toEqual({ kind: 'agent' });
  expect(toolOf('question')).toEqual({ kind: 'custom', toolName: 'question', isQuestion: true });
});

it('[OC17] write and edit have one key in opencode: where the definition distinguishes them opencode asks, and the engine answers', () => {
  const configs = [{ type: 'edit' as const, name: 'edit' as const, ...always('always_ask', false) }];
  const tools: AgentSnapshot['tools'] = [
    { type: 'agent_toolset_20260401', default_config: always('always_allow'), configs },
  ];
  const { toolOf, permissions } = toToolPolicy(agent({ tools }));
  expect(permissions['edit']).toBe('ask');
  expect([toolOf('write'), toolOf('edit')]).toMatchObject([{ permission: 'allow' }, { permission: 'deny' }]);
});

it('[OC17] tools of MCP servers and custom tools are known by the names that opencode gives them', () => {
  const servers = ['files', 'files_old'].map((name) => ({ type: 'url' as const, name, url: 'https://example.com' }));
  const tools: AgentSnapshot['tools'] = [
    toolset('always_allow'),
    { type: 'mcp_toolset', mcp_server_name: 'files', default_config: always('always_ask'), configs: [] },
    {
      type: 'mcp_toolset',
      mcp_server_name: 'files_old',
      default_config: always('always_allow'),
      configs: [{ name: 'drop.all', ...always('always_ask', false) }],
    },
    { type: 'custom', name: 'lookup', description: 'Looks a word up', input_schema: { type: 'object' } },
  ];
  const { toolOf, permissions } = toToolPolicy(agent({ tools, mcp_servers: servers }));
  expect(['files_list', 'files_old_list', 'files_old_drop_all', 'fleetloom_lookup'].map(toolOf)).toEqual([
    { kind: 'mcp', permission: 'ask', serverName: 'files', toolName: 'list' },
    { kind: 'mcp', permission: 'allow', serverName: 'files_old', toolName: 'list' },
    { kind: 'builtin', permission: 'deny' },
    { kind: 'custom', toolName: 'lookup' },
  ]);
  expect(permissions).toMatchObject({ 'files_*': 'ask', files_old_drop_all: 'deny', fleetloom_lookup: 'allow' });
});

it('[OC17] servers that opencode could not distinguish are refused with their names', () => {
  const named = (...names: string[]) => [
    { mcp_servers: names.map((name) => ({ type: 'url' as const, name, url: 'https://example.com' })) },
  ];
  expect(findServerNameProblem(named('one', 'two'))).toBeNull();
  expect(findServerNameProblem(named('a.b', 'a-b', 'a_b'))).toMatch(/a\.b and a_b/);
  expect(findServerNameProblem(named('fleetloom'))).toMatch(/reserved/);
});
