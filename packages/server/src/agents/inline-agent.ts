import type { AgentCreateParams, AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { createDefinition } from './write-definition.ts';

/** An agent for one session, which is kept nowhere else. It goes through the same checks as one that is kept. */
export async function toInlineAgent(id: string, params: AgentCreateParams): Promise<AgentSnapshot> {
  const { multiagent: _, metadata: __, ...definition } = await createDefinition(params, async () => undefined);
  return { type: 'agent', id, version: 1, ...definition, execution_identity: { type: 'service_account' } };
}
