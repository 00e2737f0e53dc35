import type {
  Multiagent20261001Params,
  MultiagentParams,
  RosterEntryParams,
  RosterIsolationParams,
} from '@fleetloom/protocol/managed-agents';
import { agentLimits } from './limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import type { AgentRecord } from '../store/records.ts';
import { agentError } from './agent-errors.ts';
import { definitionOf } from './definition.ts';
import { findRepeated } from './find-repeated.ts';
import { membersOf, type StoredMember, type StoredMultiagent } from './multiagent.ts';

/** Looks an agent up: its newest version if none is given. */
export type FindAgent = (id: string, version?: number) => Promise<AgentRecord | undefined>;

/** The agent whose roster it is, as it was before. One that is just being created has nothing yet. */
export interface RosterOwner {
  readonly id?: string;
  readonly version?: number;
  readonly multiagent: StoredMultiagent | null;
}

/**
 * Converts a roster from a request to its stored form: each agent is pinned to its present version, so that a later change of the agent
 * does not silently change its coordinators.
 */
export async function resolveMultiagent(
  params: MultiagentParams,
  owner: RosterOwner,
  find: FindAgent,
): Promise<StoredMultiagent> {
  if (params.type === 'coordinator') return { type: params.type, members: await pinAll(params.agents, owner, find) };
  const { type, subagents } = params;
  refuseUnsupported(params);
  // Other than everything else of an agent, this form is merged into what was there, level by level.
  const stored = owner.multiagent?.type === type ? owner.multiagent : undefined;
  if (subagents === undefined && stored !== undefined) return stored;
  if (subagents?.type === 'disabled') return { type, members: null };
  const entries = subagents?.predefined_agents;
  if (subagents?.type === 'enabled' && entries === undefined && stored?.members) return stored;
  return { type, members: await pinAll(entries ?? [], owner, find) };
}

/** A coordinator addresses the agents of its roster by name, so its own new name must differ from theirs. */
export async function checkNames(
  multiagent: StoredMultiagent | null,
  owner: { readonly name: string },
  find: FindAgent,
): Promise<void> {
  const names: (string | undefined)[] = [];
  // One by one: definitions of older versions had no limit, and all of them together may be too large for memory.
  for (const member of membersOf(multiagent)) {
    const record = member.type === 'self' ? undefined : await find(member.id, member.version);
    if (member.type === 'self') names.push(owner.name);
    else names.push(record && definitionOf(record).name);
    await yieldToEventLoop();
  }
  if (names.includes(RESERVED_NAME)) {
    throw agentError('roster_name_reserved', `a member of a roster cannot be called ${RESERVED_NAME}`);
  }
  const repeated = findRepeated(names);
  if (repeated !== undefined)
    throw agentError('roster_name_repeated', `two members of the roster are called ${repeated}`);
}

/** The name by which a coordinator delegates to a copy of itself. */
const RESERVED_NAME = 'self';

/** To store what will never happen, and to say that it was stored, would be a lie. */
function refuseUnsupported({ subagents, workflows, advisor }: Multiagent20261001Params): void {
  if (workflows?.type === 'enabled') throw agentError('workflows_not_supported', 'this server has no workflow runs');
  if (advisor?.type === 'enabled') throw agentError('advisor_not_supported', 'this server has no advisors');
  if (subagents?.type === 'enabled' && subagents.inline_agents?.type === 'enabled') {
    throw agentError('inline_agents_not_supported', 'this server has no inline agents');
  }
}

async function pinAll(
  entries: readonly RosterEntryParams[],
  owner: RosterOwner,
  find: FindAgent,
): Promise<readonly StoredMember[]> {
  checkCount(entries.length);
  const members: StoredMember[] = [];
  const wanted = entries.map((entry) => toWanted(entry, owner));
  for (const each of wanted) {
    const member = each.type === 'self' ? SELF : pin(each, await find(each.id, each.version));
    members.push(each.isolation === 'worktree' ? { ...member, isolation: each.isolation } : member);
    await yieldToEventLoop();
  }
  const repeated = findRepeated(members.map((member) => (member.type === 'self' ? (owner.id ?? 'self') : member.id)));
  if (repeated !== undefined) throw agentError('roster_member_repeated', `the roster has ${repeated} twice`);
  return members;
}

function checkCount(count: number): void {
  if (count === 0) throw agentError('roster_empty', 'the roster has no agents: name at least one');
  if (count <= agentLimits.rosterMembersMax) return;
  throw agentError(
    'roster_too_large',
    `the roster has ${count} agents, and ${agentLimits.rosterMembersMax} are allowed`,
  );
}

interface Reference extends RosterIsolationParams {
  readonly type: 'agent';
  readonly id: string;
  readonly version?: number;
}

interface SelfReference extends RosterIsolationParams {
  readonly type: 'self';
}

const SELF = { type: 'self' } as const;

/** Answers spell `self` out as the agent's own id and version, and what is read has to be accepted when it is sent back. */
function toWanted(entry: RosterEntryParams, owner: RosterOwner): Reference | SelfReference {
  if (typeof entry === 'string') return entry === owner.id ? SELF : { type: 'agent', id: entry };
  if (entry.type === 'advisor') throw agentError('advisor_not_supported', 'this server has no advisors');
  if (entry.type === 'self') return entry;
  const { id, version = owner.version, isolation } = entry;
  const isOwn = id === owner.id && version === owner.version;
  return isOwn ? { type: 'self', ...(isolation === undefined ? {} : { isolation }) } : entry;
}

function pin({ id, version }: Reference, record: AgentRecord | undefined): StoredMember {
  if (record === undefined) {
    const which = version === undefined ? id : `version ${version} of ${id}`;
    throw agentError('roster_member_not_found', `the roster names ${which}, which does not exist`);
  }
  if (record.archivedAt !== null) {
    throw agentError('roster_member_archived', `the roster names ${id}, which is archived`);
  }
  if (definitionOf(record).multiagent !== null) {
    throw agentError('roster_member_delegates', `the roster names ${id}, which has a roster of its own`);
  }
  return { type: 'agent', id, version: record.version };
}
