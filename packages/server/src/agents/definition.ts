import type {
  Agent,
  RosterReference,
  AgentSnapshot,
  McpServer,
  ModelConfig,
  Multiagent,
  Skill,
  Tool,
} from '@fleetloom/protocol/managed-agents';
import type { AgentRecord } from '../store/records.ts';
import { spellOut, type StoredMultiagent } from './multiagent.ts';

/** A stored version of an agent: all references are resolved and defaults filled in. */
export interface AgentDefinition {
  readonly name: string;
  readonly description: string | null;
  readonly system: string | null;
  readonly model: ModelConfig;
  readonly tools: readonly Tool[];
  readonly mcp_servers: readonly McpServer[];
  readonly skills: readonly Skill[];
  readonly multiagent: StoredMultiagent | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The typed definition of an agent record. */
export function definitionOf({ data }: AgentRecord): AgentDefinition {
  // Only createAgents writes these records, so the form is known.
  return data as object as AgentDefinition;
}

/** A version as the wire shows it. */
export function toAgent(record: AgentRecord): Agent {
  const { multiagent, metadata } = definitionOf(record);
  return {
    ...toSnapshot(record),
    multiagent: multiagent === null ? null : toReferences(multiagent, record),
    metadata,
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
    archived_at: record.archivedAt === null ? null : toTime(record.archivedAt),
  };
}

/** The part of an agent that a thread needs. */
export function toSnapshot(record: AgentRecord): AgentSnapshot {
  const { name, description, system, model, tools, mcp_servers, skills } = definitionOf(record);
  return {
    type: 'agent',
    id: record.id,
    version: record.version,
    name,
    description,
    system,
    model,
    tools,
    mcp_servers,
    skills,
    execution_identity: { type: 'service_account' },
  };
}

/** The agent itself is a member at the version that is shown, whenever it was put into its own roster. */
function toReferences(multiagent: StoredMultiagent, { id, version }: AgentRecord): Multiagent {
  return spellOut(
    multiagent,
    (member): RosterReference => (member.type === 'self' ? { ...member, type: 'agent', id, version } : member),
  );
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
