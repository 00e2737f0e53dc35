import { type SessionAgent, toRoster } from '@fleetloom/protocol/managed-agents';

/** The models of a session's own agent and of its roster. */
export function modelsOf(agent: SessionAgent): readonly string[] {
  return [agent, ...toRoster(agent.multiagent)].map(({ model }) => model.id);
}
