import type { AgentSnapshot, Tool } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { toAgents, toArguments } from '../launch/to-arguments.ts';
import { findServerNameProblem, toToolPolicy } from './tool-policy.ts';

const ask = { type: 'always_ask' } as const;
const allow = { type: 'always_allow' } as const;

it('[J11] the tools of the program are allowed, asked for or refused as the definition says of ours', () => {
  const { toolOf, builtins, disabled, asked } = toToolPolicy(
    agent([
      {
        type: 'agent_toolset_20260401',
        default_config: { enabled: true, permission_policy: allow },
        configs: [
          { name: 'bash', type: 'bash', enabled: true, permission_policy: ask },
          { name: 'edit', type: 'edit', enabled: false, permission_policy: allow },
        ],
      },
    ]),
  );
  expect(toolOf('Bash')).toEqual({ kind: 'builtin', permission: 'ask' });
  expect(toolOf('Read')).toEqual({ kind: 'builtin', permission: 'allow' });
  expect(toolOf('NotebookEdit')).toMatchObject({ kind: 'denied' });
  expect(toolOf('TodoWrite')).toEqual({ kind: 'builtin', permission: 'allow' });
  // A tool of a newer program, which may do anything.
  expect(toolOf('NewTool')).toEqual({ kind: 'builtin', permission: 'allow' });
  expect(toToolPolicy(agent([])).toolOf('NewTool')).toEqual({ kind: 'builtin', permission: 'ask' });
  expect(toolOf('Agent')).toEqual({ kind: 'agent' });
  expect(toolOf('Task')).toEqual({ kind: 'agent' });
  expect(toolOf('AskUserQuestion')).toEqual({ kind: 'custom', toolName: 'AskUserQuestion', isQuestion: true });
  for (const name of ['EnterPlanMode', 'ExitPlanMode'])
    expect(toolOf(name)).toEqual({ kind: 'builtin', permission: 'ask' });
  expect([builtins, disabled, asked]).toEqual([
    undefined,
    ['Edit', 'NotebookEdit'],
    ['Bash', 'Monitor', 'EnterWorktree', 'ExitWorktree'],
  ]);
});

it('[J231] names of MCP servers that the program could not distinguish, or that are its own, are refused', () => {
  const servers = (...names: string[]) => [
    { mcp_servers: names.map((name) => ({ type: 'url' as const, name, url: 'https://x' })) },
  ];
  expect(findServerNameProblem(servers('docs', 'docs', 'a', 'a__b'))).toBe(null);
  expect(findServerNameProblem(servers('fleetloom'))).toContain('reserved');
  expect(findServerNameProblem(servers('a.b', 'a_b'))).toContain('a.b and a_b');
});

it('[J11] tools of MCP servers and custom tools keep their own names, and unknown tools are refused', () => {
  const config = { enabled: true, permission_policy: ask };
  const { toolOf } = toToolPolicy(
    agent(
      [
        {
          type: 'mcp_toolset',
          mcp_server_name: 'my desk',
          default_config: config,
          configs: [
            { name: 'read', enabled: true, permission_policy: allow },
            { name: 'drop', enabled: false, permission_policy: allow },
          ],
        },
        { type: 'custom', name: 'look', description: 'Looks', input_schema: { type: 'object' } },
      ],
      [{ type: 'url', name: 'my desk', url: 'http://localhost/mcp' }],
    ),
  );
  const ofDesk = { kind: 'mcp', serverName: 'my desk' };
  expect(toolOf('mcp__my_desk__read')).toEqual({ ...ofDesk, toolName: 'read', permission: 'allow' });
  expect(toolOf('mcp__my_desk__write')).toEqual({ ...ofDesk, toolName: 'write', permission: 'ask' });
  expect(toolOf('mcp__my_desk__drop')).toMatchObject({ kind: 'denied' });
  expect(toolOf('mcp__other__read')).toMatchObject({ kind: 'denied' });
  expect(toolOf('mcp__fleetloom__look')).toEqual({ kind: 'custom', toolName: 'look' });
  expect(toolOf('Bash')).toMatchObject({ kind: 'denied' });
});

it('[J12] one process has one set of rules: what one of its agents has to ask for all ask for, and who may is answered at once', () => {
  const open = agent([toolset(true, allow)]);
  const asking = { ...agent([toolset(true, ask)]), name: 'asker', model: { ...open.model, id: 'claude-sonnet-5' } };
  const closed = { ...agent([]), name: 'reader' };
  const args = toArguments({ agent: open, members: [asking, closed], resume: 'c1' });
  const settings = JSON.parse(valueOf(args, '--settings')) as { permissions: { ask: string[]; allow: string[] } };
  expect(settings.permissions.ask).toContain('Bash');
  expect(settings.permissions.allow).toEqual(['mcp__fleetloom']);
  expect(args).not.toContain('--tools');
  expect(args).not.toContain('--model');
  expect(valueOf(args, '--resume')).toBe('c1');
  expect(toAgents([asking, closed])).toMatchObject({
    asker: { model: 'claude-sonnet-5', prompt: 'You are asker.' },
    reader: { tools: [] },
  });
});

it('[J12] an agent without tools has those that delegate at most, and the model that it names', () => {
  const alone = { ...agent([]), model: { ...agent([]).model, id: 'claude-code/opus' } };
  expect(valueOf(toArguments({ agent: alone, members: [], resume: null }), '--tools')).toBe('');
  expect(valueOf(toArguments({ agent: alone, members: [], resume: null }), '--model')).toBe('opus');
  const withMember = toArguments({ agent: alone, members: [agent([])], resume: null });
  expect(valueOf(withMember, '--tools').split(',')).toContain('Agent');
});

function valueOf(args: readonly string[], flag: string): string {
  return args[args.indexOf(flag) + 1] ?? 'none';
}

function toolset(enabled: boolean, policy: typeof ask | typeof allow): Tool {
  return { type: 'agent_toolset_20260401', default_config: { enabled, permission_policy: policy }, configs: [] };
}

function agent(tools: readonly Tool[], servers: AgentSnapshot['mcp_servers'] = []): AgentSnapshot {
  return {
    type: 'agent',
    id: 'agent_1',
    version: 1,
    name: 'main',
    description: null,
    system: null,
    model: { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' },
    tools,
    mcp_servers: servers,
    skills: [],
    execution_identity: { type: 'service_account' },
  };
}
