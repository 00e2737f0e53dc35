import { expect, it } from 'vitest';
import { type AgentSnapshot, type SessionMultiagent, toRoster } from './index.ts';

const member: AgentSnapshot = {
  type: 'agent',
  id: 'agent_1',
  version: 1,
  name: 'm',
  description: null,
  system: null,
  model: { id: 'scripted/demo', effort: { type: 'high' }, speed: 'standard' },
  tools: [],
  mcp_servers: [],
  skills: [],
  execution_identity: { type: 'service_account' },
};
const disabled = { type: 'disabled' } as const;

it('[A1] the roster of a session is read from either form, and is empty where nothing may be delegated', () => {
  const form = { type: 'multiagent_20261001', workflows: disabled, advisor: disabled } as const;
  const subagents = { type: 'enabled', predefined_agents: [member], inline_agents: disabled } as const;
  const rosters: [SessionMultiagent | null, AgentSnapshot[]][] = [
    [null, []],
    [{ type: 'coordinator', agents: [member] }, [member]],
    [{ ...form, subagents }, [member]],
    [{ ...form, subagents: disabled }, []],
  ];
  for (const [multiagent, members] of rosters) expect(toRoster(multiagent)).toEqual(members);
});
