import { type AgentSnapshot, type SessionAgent, toRoster } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../base/json.ts';
import type { Budget, NewSessionFrame, SessionCreated } from '../frames/frames.ts';
import type { SessionLog } from '../store/log.ts';
import type { NewKey, SessionRecord } from '../store/records.ts';
import { beginState } from './begin-state.ts';
import type { ClientEvent } from './client-event.ts';
import { Draft, type Sources } from './draft.ts';
import { toSessionData } from './record-data.ts';
import { checkSize } from './send-events.ts';
import { type Refusal, refuseRun } from './refuse-run.ts';
import { toChanges, toCreation } from './to-changes.ts';
import { toWorkChange } from './to-work-change.ts';

export interface CreateSession {
  readonly workspaceId: string;
  /** If something was made ready for it before. */
  readonly id?: string;
  readonly agent: SessionAgent;
  readonly environment: SessionCreated['environment'];
  readonly title?: string | null;
  readonly metadata?: JsonObject;
  readonly budget?: Budget | null;
  /** What has used up its budget ends, instead of pausing until it is raised. */
  readonly endsAtBudget?: boolean;
  /** How deep agents may delegate: once unless it is said. */
  readonly depthMax?: number;
  /** Whether commands in what agents write are run. */
  readonly hasTextCommands?: boolean;
  /** Whom agents may delegate to, if it is not the roster of the agent. */
  readonly members?: readonly AgentSnapshot[];
  readonly events?: readonly Extract<ClientEvent, { type: 'user.message' }>[];
  /** It happens elsewhere and is only told here. */
  readonly isReadOnly?: boolean;
  /** It only tells why what was asked for cannot begin. */
  readonly refusal?: Refusal;
  /** Keeps the answer for a client that repeats the request, in the same write. */
  readonly toKey?: (made: SessionRecord) => NewKey;
}

/** Writes a new session with everything that came with it, all at once: a crash leaves the whole or nothing. */
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
  events.forEach(checkSize);
  const inputs = events.map((event) => ({
    type: 'enqueue_input' as const,
    input: { id: ids.next('sevt'), threadId: null, time: first.time, data: { event } },
  }));
  // A worker may get ready before there is anything to do.
  const works = environment.type === 'self_hosted' ? [toWorkChange(ids, first.time)] : [];
  // The cast: as the store gives it back, which knows nothing of what it keeps.
  const data = session.data as unknown as JsonObject;
  const made = { ...session, data, revision: 1, updatedAt: session.createdAt, archivedAt: null };
  const keys = toKey === undefined ? [] : [{ type: 'put_key' as const, key: toKey(made) }];
  const draft = new Draft(state, sources);
  if (refusal !== undefined) refuseRun(draft, refusal);
  const changes = [...threads, ...inputs, ...works, ...keys, ...toChanges(draft)];
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
  };
  return { threadId: null, turn: null, time: clock.now(), type: 'session.created', payload };
}
