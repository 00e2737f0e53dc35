import type { Agent, MultiagentParams, RosterReference } from '@fleetloom/protocol/managed-agents';

/** The agents that an agent may delegate to, in either form of a roster. */
export function rosterOf({ multiagent }: Pick<Agent, 'multiagent'>): readonly RosterReference[] {
  if (multiagent === null) return [];
  if (multiagent.type === 'coordinator') return multiagent.agents;
  return multiagent.subagents.type === 'enabled' ? multiagent.subagents.predefined_agents : [];
}

/** A roster for the API, in the same form as the agent's current roster. */
export function toRosterParams(
  { multiagent }: Pick<Agent, 'multiagent'>,
  members: readonly RosterReference[],
): MultiagentParams | null {
  if (members.length === 0) return null;
  return multiagent?.type === 'multiagent_20261001'
    ? { type: multiagent.type, subagents: { type: 'enabled', predefined_agents: members } }
    : { type: 'coordinator', agents: members };
}
