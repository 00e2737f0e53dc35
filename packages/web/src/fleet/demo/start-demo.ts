import type { Agent, AgentCreateParams, Environment, Session } from '@fleetloom/protocol/managed-agents';
import { api } from '../../connection/api.ts';
import { coordinator, crew } from './demo-agents.ts';

/** Makes the agents of the demo, unless they are there, and sets them to work. */
export async function startDemo(children: number): Promise<Session> {
  const known = await listDemoAgents();
  const ids = await Promise.all(crew.map((member) => ensure(known, member)));
  const lead = await api.post<Agent>('v1/agents', {
    ...coordinator(children),
    multiagent: { type: 'coordinator', agents: ids },
  });
  const environment = await ensureEnvironment();
  return await api.post<Session>('v1/sessions', {
    agent: lead.id,
    environment_id: environment,
    title: `Demo: ${children + 1} agents look at a shop`,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'What should we mend in the shop?' }] }],
  });
}

/** Where tools run: the newest place there is, or a new one. */
export async function ensureEnvironment(): Promise<string> {
  const { data } = await api.get<{ data: readonly Environment[] }>('v1/environments?limit=100');
  const found = data.find(({ config, archived_at: archived }) => config.type === 'cloud' && archived === null);
  return found?.id ?? (await api.post<Environment>('v1/environments', { name: 'this machine' })).id;
}

async function listDemoAgents(): Promise<ReadonlyMap<string, Agent>> {
  const agents = new Map<string, Agent>();
  for await (const agent of api.list<Agent>('v1/agents?limit=100')) {
    if (agent.metadata['fleetloom'] === 'demo' && !agents.has(agent.name)) agents.set(agent.name, agent);
  }
  return agents;
}

async function ensure(known: ReadonlyMap<string, Agent>, params: AgentCreateParams): Promise<string> {
  const found = known.get(params.name);
  return found !== undefined && found.system === params.system
    ? found.id
    : (await api.post<Agent>('v1/agents', params)).id;
}
