import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../../base/json/json.ts';
import { sessionLimits } from '../../core/limits.ts';
import { yieldToEventLoop } from '../../../base/yield-to-event-loop.ts';
import { type NewSessionFrame, toSessionFrame } from '../../../frames/frames.ts';
import type { StoredFrame } from '../../../store/frame.ts';
import type { SessionLog } from '../../../log/log.ts';
import type { NewKey, SessionRecord } from '../../../store/records.ts';
import { readBatches } from '../../../log/read-batches.ts';
import type { Store } from '../../../store/store.ts';
import type { Change } from '../../../store/write.ts';
import { beginState } from '../../core/state/begin-state.ts';
import { Draft, type Sources } from '../../core/draft.ts';
import { cancelTurn } from '../../core/turn/end-turn.ts';
import type { SessionCreated } from '../../../frames/payload-parts.ts';
import { evolve } from '../../core/state/evolve.ts';
import { forkConversations, type ForkConversationParts } from './fork-conversations.ts';
import { closeOpen } from '../../core/program/end-lost-program.ts';
import { toSessionData } from '../../core/state/record-data.ts';
import { toSummary } from '../../core/state/to-summary.ts';
import { sessionError } from '../../core/session-errors.ts';
import { settle } from '../../core/steps/settle.ts';
import { isProgram } from '../../core/state/program-threads.ts';
import type { SessionState } from '../../core/state/state.ts';
import { toCreation } from '../../core/steps/to-changes.ts';
import { toWorkChange } from '../to-work-change.ts';

/** A session to be forked. */
export interface ForkSession {
  readonly workspaceId: string;
  readonly sourceId: string;
  /** The last frame that both sessions share; by default the newest. */
  readonly upTo?: number | undefined;
  /** The id of the fork, if resources were prepared for it before it exists. */
  readonly id?: string;
  readonly title?: string | null | undefined;
  /** The agent of the fork, given the agent of the source at that frame. */
  readonly agent?: ((agent: SessionAgent) => SessionAgent) | undefined;
  /** The source of the workspace of the fork, as lists show it. */
  readonly source?: SessionCreated['source'];
  /** The name of the key of the caller. */
  readonly createdBy?: string | undefined;
  readonly toKey?: (made: SessionRecord) => NewKey;
}

/** What forking needs. */
export interface ForkParts extends Sources {
  /** Set where sessions of programs can be forked too. */
  readonly program?: ForkConversationParts | undefined;
  /** Copies the recorded files, with which the fork begins. */
  readonly copyFiles?: ((fromSessionId: string, toSessionId: string, tree: string) => Promise<void>) | undefined;
  readonly store: Pick<Store, 'read'>;
  readonly log: SessionLog;
}

/**
 * Creates a session with the log of another one up to a frame. Work that was
 * in progress at that frame is not repeated: open turns end there, as if they had been interrupted.
 */
export async function forkSession(parts: ForkParts, request: ForkSession): Promise<SessionRecord> {
  const { workspaceId, sourceId, toKey } = request;
  const id = request.id ?? parts.ids.next('sesn');
  const frames = await readPrefix(parts.store, request);
  const state = await fold(id, frames);
  checkForkable(state, sourceId);
  const draft = new Draft(state, parts);
  stopAll(draft);
  // Before there is a session: with its first event it may begin to work on the files.
  if (state.workspace !== null) await parts.copyFiles?.(sourceId, id, state.workspace.tree);
  await forkConversations(draft, sourceId, parts.program);
  change(draft, request);
  settle(draft);
  const { agent, created, status } = state;
  const data = toSessionData(state);
  const session = {
    workspaceId,
    id,
    agentId: agent.id,
    agentVersion: agent.version,
    environmentId: created.environment.id,
    status,
    createdAt: draft.now,
    data,
  };
  // The cast: the data as the store returns it; a store does not know the type of its data.
  const kept = { ...session, data: data as unknown as JsonObject, revision: 1, updatedAt: draft.now, archivedAt: null };
  const works = created.environment.type === 'self_hosted' ? [toWorkChange(parts.ids, draft.now)] : [];
  const keys = toKey === undefined ? [] : [{ type: 'put_key' as const, key: toKey(kept) }];
  const summary = { type: 'put_summary' as const, summary: { ...toSummary(state), createdAt: draft.now } };
  const changes = [...toThreads(state, draft.now), ...works, ...keys, summary];
  await parts.log.append({ type: 'create', session, frames: [...frames, ...draft.frames], changes });
  return kept;
}

/**
 * Reads the frames of the fork without deltas: whole blocks repeat their text. Frames that were written together with the last
 * frame are included, since a write cannot be divided.
 */
async function readPrefix(store: Pick<Store, 'read'>, request: ForkSession): Promise<NewSessionFrame[]> {
  const { sourceId: sessionId, upTo = Number.POSITIVE_INFINITY } = request;
  const { forkBytesMax: bytesMax } = sessionLimits;
  const frames: NewSessionFrame[] = [];
  let [seq, bytes, isWhole] = [0, 0, true];
  for await (const stored of readFrames(store, sessionId, upTo)) {
    // Old logs do not mark the end of a write: there, frames with the same time count as one write.
    if (stored.seq > upTo && (isWhole || stored.value.time !== frames.at(-1)?.time)) break;
    isWhole = stored.isLast;
    if (stored.isDelta) continue;
    seq = stored.seq;
    bytes += stored.bytes.length;
    if (bytes > bytesMax) {
      throw sessionError('not_forkable', `${sessionId} has more than ${bytesMax} bytes up to there`);
    }
    const { threadId, turn, time, type, payload } = toSessionFrame(stored.value);
    // The frame without its position in the other log. The payload still matches its type.
    frames.push({ threadId, turn, time, type, payload, isLast: isWhole, line: stored.bytes } as NewSessionFrame);
  }
  return begun(frames, request, seq);
}

/** Reads deltas only near the last frame, where they may mark the end of a write. */
async function* readFrames(store: Pick<Store, 'read'>, sessionId: string, upTo: number): AsyncGenerator<StoredFrame> {
  const exactFrom = Math.max(0, upTo - EXACT_FRAMES);
  for await (const entries of readBatches(store, sessionId, 0, { skipsDeltas: true })) {
    for (const entry of entries) if (entry.kind === 'frame' && entry.seq <= exactFrom) yield entry;
    if (entries.at(-1)!.lastSeq >= exactFrom) break;
  }
  if (exactFrom === Number.POSITIVE_INFINITY) return;
  for await (const entries of readBatches(store, sessionId, exactFrom)) {
    yield* entries.filter((entry) => entry.kind === 'frame');
  }
}

const EXACT_FRAMES = 16;

/** Adds the source to the first frame. */
function begun(
  frames: NewSessionFrame[],
  { sourceId: sessionId, source, createdBy }: ForkSession,
  seq: number,
): NewSessionFrame[] {
  const [first, ...rest] = frames;
  if (first?.type !== 'session.created') throw sessionError('not_forkable', `${sessionId} has nothing up to there`);
  const made = {
    ...(source === undefined ? {} : { source }),
    ...(createdBy === undefined ? {} : { created_by: createdBy }),
  };
  const payload = { ...first.payload, ...made, forked_from: { session_id: sessionId, seq } };
  const { line: _, ...changed } = { ...first, payload };
  return [changed, ...rest];
}

async function fold(id: string, [first, ...rest]: readonly NewSessionFrame[]): Promise<SessionState> {
  const state = beginState(id, first!);
  for (const frame of rest) {
    evolve(state, frame);
    await yieldToEventLoop();
  }
  return state;
}

function checkForkable(state: SessionState, sourceId: string): void {
  // The session ran elsewhere: no program of this server has its conversation.
  if (isProgram(state) && state.created.is_read_only === true) {
    throw sessionError('not_forkable', `${sourceId} was imported, and its program is not here`);
  }
  if (state.status === 'terminated') throw sessionError('not_forkable', `${sourceId} had ended there`);
}

/** Stops all threads, children first and without reports: a report would begin the next turn of the waiting parent. */
function stopAll(draft: Draft): void {
  for (const thread of [...draft.state.threads.values()].toReversed()) {
    if (thread.turn === null) continue;
    closeOpen(draft, thread);
    cancelTurn(draft, thread, { isReported: false });
  }
}

function change(draft: Draft, { title, agent: toAgent, sourceId }: ForkSession): void {
  const agent = toAgent?.(draft.state.agent);
  // A program cannot continue the history of a model engine, nor the other way round.
  if (agent !== undefined && isProgram({ ...draft.state, agent }) !== isProgram(draft.state)) {
    throw sessionError('not_forkable', `${sourceId} cannot change between a program and a model`);
  }
  const changes = { ...(title === undefined ? {} : { title }), ...(agent === undefined ? {} : { agent }) };
  if (Object.keys(changes).length > 0) draft.event(null, 'session.updated', changes);
}

function toThreads(state: SessionState, now: number): Change[] {
  return [...state.threads.values()].flatMap((thread): Change[] => [
    toCreation(state, thread),
    ...(thread.isArchived
      ? [
          {
            type: 'update_thread' as const,
            threadId: thread.id,
            updatedAt: now,
            patch: { archivedAt: thread.updatedAt },
          },
        ]
      : []),
  ]);
}
