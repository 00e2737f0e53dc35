import { type RosterMember, type SessionAgent, toRoster } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../base/json/json.ts';
import type { NewSessionFrame } from '../../frames/frames.ts';
import type { Budget, SessionCreated } from '../../frames/payload-parts.ts';
import type { SessionLog } from '../../log/log.ts';
import type { NewKey, SessionRecord } from '../../store/records.ts';
import { beginState } from '../core/state/begin-state.ts';
import type { ClientEvent } from '../core/client-event.ts';
import { Draft, type Sources } from '../core/draft.ts';
import { toSessionData } from '../core/state/record-data.ts';
import { toSummary } from '../core/state/to-summary.ts';
import { checkSizes } from './send-events.ts';
import { type Refusal, rejectRun } from '../core/steps/reject-run.ts';
import { toChanges, toCreation } from '../core/steps/to-changes.ts';
import { toWorkChange } from './to-work-change.ts';

/** A session to be created. */
export interface CreateSession {
  readonly workspaceId: string;
  /** The id of the session, if resources were prepared for it before it exists. */
  readonly id?: string;
  readonly agent: SessionAgent;
  readonly environment: SessionCreated['environment'];
  readonly title?: string | null;
  readonly metadata?: JsonObject;
  readonly budget?: Budget | null;
  /** Whether a run that has used up the budget ends, instead of pausing until the budget is raised. */
  readonly endsAtBudget?: boolean;
  /** How many levels deep agents may delegate; 1 by default. */
  readonly depthMax?: number;
  /** Whether text commands in the responses of agents are run. */
  readonly hasTextCommands?: boolean;
  /** The agents that may be delegated to; by default the roster of the agent. */
  readonly members?: readonly RosterMember[];
  readonly events?: readonly Extract<ClientEvent, { type: 'user.message' }>[];
  /** Whether the session runs elsewhere and is imported: clients cannot send to it. */
  readonly isReadOnly?: boolean;
  /** Whether the workspace has a source, so that its files are recorded. */
  readonly isRecorded?: boolean;
  /** The source of the workspace, as lists show it. */
  readonly source?: SessionCreated['source'];
  /** The vaults with the credentials for the MCP servers of the session, in this order. */
  readonly vaultIds?: readonly string[];
  /** The name of the key of the caller. */
  readonly createdBy?: string;
  /** Set if the requested run cannot begin: the session only reports this reason. */
  readonly refusal?: Refusal;
  /** Stores the response for a client that repeats the request, in the same write. */
  readonly toKey?: (made: SessionRecord) => NewKey;
}

/** Commits a new session and its first events in one write: a crash leaves all of them or none. */
export async function createSession(log: SessionLog, sources: Sources, request: CreateSession): Promise<string> {
  const { workspaceId, agent, environment, events = [], refusal, toKey } = request;
  const { ids } = sources;
  const sessionId = request.id ?? ids.next('sesn');
  const first = toFirstFrame(sources, request);
  const state = beginState(sessionId, first);
  const session = {
    workspaceId,
    id: sessionId,
    agentId: agent.id,
    agentVersion: agent.version,
    environmentId: environment.id,
    status: 'idle' as const,
    createdAt: first.time,
    data: toSessionData(state),
  };
  const threads = [...state.threads.values()].map((thread) => toCreation(state, thread));
  checkSizes(events);
  const inputs = events.map((event) => ({
    type: 'enqueue_input' as const,
    input: { id: ids.next('sevt'), threadId: null, time: first.time, data: { event } },
  }));
  // A worker may prepare itself before there is anything to do.
  const works = environment.type === 'self_hosted' ? [toWorkChange(ids, first.time)] : [];
  // The cast: the data as the store returns it; a store does not know the type of its data.
  const data = session.data as unknown as JsonObject;
  const made = { ...session, data, revision: 1, updatedAt: session.createdAt, archivedAt: null };
  const keys = toKey === undefined ? [] : [{ type: 'put_key' as const, key: toKey(made) }];
  const draft = new Draft(state, sources);
  if (refusal !== undefined) rejectRun(draft, refusal);
  const summary = { type: 'put_summary' as const, summary: toSummary(state) };
  const changes = [...threads, ...inputs, ...works, ...keys, ...toChanges(draft), summary];
  await log.append({ type: 'create', session, frames: [first, ...draft.frames], changes });
  return sessionId;
}

function toFirstFrame(
  { clock, ids }: Sources,
  request: CreateSession,
): Extract<NewSessionFrame, { type: 'session.created' }> {
  const {
    agent,
    environment,
    title = null,
    metadata = {},
    budget = null,
    depthMax = 1,
    hasTextCommands = false,
    endsAtBudget = false,
  } = request;
  const payload = {
    agent,
    environment,
    primary_thread_id: ids.next('sthr'),
    title,
    metadata,
    budget,
    depth_max: depthMax,
    text_commands: hasTextCommands,
    ends_at_budget: endsAtBudget,
    members: request.members ?? toRoster(agent.multiagent),
    ...(request.isReadOnly === true ? { is_read_only: true } : {}),
    ...(request.isRecorded === true ? { is_recorded: true as const } : {}),
    ...(request.source === undefined ? {} : { source: request.source }),
    ...(request.vaultIds === undefined || request.vaultIds.length === 0 ? {} : { vault_ids: request.vaultIds }),
    ...(request.createdBy === undefined ? {} : { created_by: request.createdBy }),
  };
  return { threadId: null, turn: null, time: clock.now(), type: 'session.created', payload };
}
