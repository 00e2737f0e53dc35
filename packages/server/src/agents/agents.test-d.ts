import type {
  Agent,
  IdPrefix as WirePrefix,
  SessionAgent,
  SessionAgentParams,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';
import type { IdPrefix } from '../base/ids.ts';
import { createEnvironments, type Environments, type EnvironmentsOptions } from '../environments/environments.ts';
import { type Agents, type AgentsOptions, createAgents } from './agents.ts';
import { resolveSessionAgent } from './session-agent.ts';

expectTypeOf(createAgents).toEqualTypeOf<(options: AgentsOptions) => Agents>();
expectTypeOf(createEnvironments).toEqualTypeOf<(options: EnvironmentsOptions) => Environments>();
expectTypeOf(resolveSessionAgent).returns.resolves.toEqualTypeOf<SessionAgent>();
expectTypeOf<Parameters<typeof resolveSessionAgent>[0]['agent']>().toEqualTypeOf<SessionAgentParams>();

// What the server makes ids of is what the wire knows.
expectTypeOf<IdPrefix>().toEqualTypeOf<WirePrefix>();

export function uses(agents: Agents, agent: Agent): void {
  // What was read can be sent back, all of it that can be changed.
  const { name, model, description, system, tools, mcp_servers, skills, multiagent, metadata, version } = agent;
  const body = { name, model, description, system, tools, mcp_servers, skills, multiagent, metadata, version };
  void agents.update('wrkspc_1', agent.id, body);
  // @ts-expect-error: the workspace says whose agent it is
  void agents.get(agent.id);
}
