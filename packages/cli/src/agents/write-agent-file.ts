import type { Agent } from '@fleetloom/protocol/managed-agents';
import { stringify } from 'yaml';

/**
 * An agent as a definition file that `agents apply` reads back to the same agent: YAML with the fields of `POST /v1/agents`,
 * with names instead of ids. Empty fields are omitted.
 */
export function writeAgentFile(agent: Agent, nameOf: (id: string) => string): string {
  const { name, description, system, model, tools, mcp_servers, skills, metadata } = agent;
  const roster = rosterOf(agent).map(({ id }) => nameOf(id));
  const fields = {
    name,
    description: description ?? '',
    // A model without other settings is written as its name.
    model: model.speed === 'standard' && model.effort.type === 'high' ? model.id : model,
    system: system ?? '',
    tools,
    agents: roster,
    mcp_servers,
    skills,
    metadata,
  };
  const written = Object.entries(fields).filter(([key, value]) => key === 'tools' || !isEmpty(value));
  return stringify(Object.fromEntries(written), { lineWidth: 120 });
}

function rosterOf({ multiagent }: Agent): readonly { readonly id: string }[] {
  if (multiagent === null) return [];
  if (multiagent.type === 'coordinator') return multiagent.agents;
  return multiagent.subagents.type === 'enabled' ? multiagent.subagents.predefined_agents : [];
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
