import type {
  AgentCreateParams,
  AgentUpdateParams,
  ExecutionIdentityParams,
  MultiagentParams,
  Skill,
  SkillParams,
} from '@fleetloom/protocol/managed-agents';
import { findExcessBytes } from '../base/json/json-bytes.ts';
import { baseLimits } from '../base/limits.ts';
import type { AgentRecord } from '../store/records.ts';
import { agentError } from './agent-errors.ts';
import { checkTools } from './check-tools.ts';
import { type AgentDefinition, definitionOf } from './definition.ts';
import { membersOf, type StoredMultiagent } from './multiagent.ts';
import { checkNames, type FindAgent, type RosterOwner, resolveMultiagent } from './roster.ts';
import { toModel } from './to-model.ts';
import { toTools } from './to-tools.ts';

/** The definition that a new agent gets. */
export async function createDefinition(params: AgentCreateParams, find: FindAgent): Promise<AgentDefinition> {
  checkIdentity(params.execution_identity);
  const owner = { multiagent: null };
  const definition: AgentDefinition = {
    name: params.name,
    description: toText(params.description),
    system: toText(params.system),
    model: toModel(params.model),
    tools: toTools(params.tools ?? []),
    mcp_servers: params.mcp_servers ?? [],
    skills: toSkills(params.skills ?? []),
    multiagent: await toMultiagent(params.multiagent ?? null, owner, find),
    metadata: params.metadata ?? {},
  };
  checkDefinition(definition);
  await checkNames(definition.multiagent, definition, find);
  return definition;
}

/** The definition after an update: absent fields stay, and the merged result is checked. */
export async function updateDefinition(
  record: AgentRecord,
  params: AgentUpdateParams,
  find: FindAgent,
): Promise<AgentDefinition> {
  checkIdentity(params.execution_identity);
  const before = definitionOf(record);
  const { name, description, system, model, tools, mcp_servers: servers, skills, multiagent, metadata } = params;
  const owner = { id: record.id, version: record.version, multiagent: before.multiagent };
  const definition: AgentDefinition = {
    name: name ?? before.name,
    description: description === undefined ? before.description : toText(description),
    system: system === undefined ? before.system : toText(system),
    model: model === undefined ? before.model : toModel(model, before.model),
    tools: tools === undefined ? before.tools : toTools(tools ?? []),
    mcp_servers: servers === undefined ? before.mcp_servers : (servers ?? []),
    skills: skills === undefined ? before.skills : toSkills(skills ?? []),
    multiagent: multiagent === undefined ? before.multiagent : await toMultiagent(multiagent, owner, find),
    metadata: mergeMetadata(before.metadata, metadata ?? {}),
  };
  checkDefinition(definition);
  await checkNames(definition.multiagent, definition, find);
  return definition;
}

/** A skill without a version is stored as `latest`: this server does not know which version is the newest. */
export function toSkills(skills: readonly SkillParams[]): readonly Skill[] {
  return skills.map(({ type, skill_id, version }) => ({ type, skill_id, version: version ?? 'latest' }));
}

/** Treats null and undefined like an empty text. */
export function toText(text: string | null | undefined): string | null {
  return text === undefined || text === '' ? null : text;
}

function checkIdentity(identity: ExecutionIdentityParams | null | undefined): void {
  if (identity?.type !== 'aws_role') return;
  throw agentError('identity_not_supported', `this server cannot act as ${identity.role_arn}`);
}

async function toMultiagent(
  params: MultiagentParams | null,
  owner: RosterOwner,
  find: FindAgent,
): Promise<StoredMultiagent | null> {
  return params === null ? null : resolveMultiagent(params, owner, find);
}

function mergeMetadata(
  before: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const entries = Object.entries({ ...before, ...patch });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}

function checkDefinition(definition: AgentDefinition): void {
  if (definition.name === '') throw agentError('invalid_name', 'an agent cannot be without a name');
  const pairs = Object.keys(definition.metadata).length;
  if (pairs > baseLimits.metadataPairsMax) {
    const problem = `the metadata has ${pairs} keys, and ${baseLimits.metadataPairsMax} are allowed`;
    throw agentError('too_many_metadata', problem);
  }
  checkTools({ ...definition, isCoordinator: membersOf(definition.multiagent).length > 0 });
  checkSize('the definition', definition);
}

/** Must run after the check of tools: a value that is nested too deep cannot be measured. */
export function checkSize(what: string, definition: object): void {
  const { definitionBytesMax: bytesMax } = baseLimits;
  const bytes = findExcessBytes(definition, bytesMax);
  if (bytes === undefined) return;
  throw agentError('definition_too_large', `${what} has at least ${bytes} bytes as JSON, and ${bytesMax} are allowed`);
}
