import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { type NewSessionFrame, toSessionFrame } from '../frames/frames.ts';
import type { StoredFrame } from '../store/frame.ts';
import type { SessionLog } from '../store/log.ts';
import type { NewKey, SessionRecord } from '../store/records.ts';
import { readBatches } from '../store/read-batches.ts';
import type { Store } from '../store/store.ts';
import type { Change } from '../store/write.ts';
import { beginState } from './begin-state.ts';
import { Draft, type Sources } from './draft.ts';
import { cancelTurn } from './end-turn.ts';
import { evolve } from './evolve.ts';
import { forkConversation, type ForkConversationParts } from './program/fork-conversation.ts';
import { closeOpen } from './program/lose-program.ts';
import { toSessionData } from './record-data.ts';
import { sessionError } from './session-errors.ts';
import { settle } from './settle.ts';
import { isProgram, type SessionState } from './state.ts';
import { toCreation } from './to-changes.ts';
import { toWorkChange } from './to-work-change.ts';

export interface ForkSession {
  readonly workspaceId: string;
  readonly sourceId: string;
  /** The last frame that both have; everything up to now if it is left out. */
  readonly upTo?: number | undefined;
  /** If something was made ready for it before. */
  readonly id?: string;
  readonly title?: string | null | undefined;
  /** What it goes on with, given what the other has there. */
  readonly agent?: ((agent: SessionAgent) => SessionAgent) | undefined;
  readonly toKey?: (made: SessionRecord) => NewKey;
}

export interface ForkParts extends Sources {
  /** Where sessions of programs are forked too. */
  readonly program?: ForkConversationParts | undefined;
  readonly store: Pick<Store, 'read'>;
  readonly log: SessionLog;
}

/**
 * A new session that has everything that happened in another one up to a frame, and goes its own way from there. What was
 * under way at that frame is not repeated: its turns end there, as if somebody had interrupted them.
 */
export async function forkSession(parts: ForkParts, request: ForkSession): Promise<SessionRecord> {
  const { workspaceId, sourceId, toKey } = request;
  const id = request.id ?? parts.ids.next('sesn');
  const frames = await readPrefix(parts.store, request);
  const state = await fold(id, frames);
  checkForkable(state, sourceId);
  const draft = new Draft(state, parts);
  stopAll(draft);
  if (isProgram(state)) await forkConversation(draft, sourceId, parts.program);
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
  // The cast: as the store gives it back, which knows nothing of what it keeps.
  const kept = { ...session, data: data as unknown as JsonObject, revision: 1, updatedAt: draft.now, archivedAt: null };
  const works = created.environment.type === 'self_hosted' ? [toWorkChange(parts.ids, draft.now)] : [];
  const keys = toKey === undefined ? [] : [{ type: 'put_key' as const, key: toKey(kept) }];
  const changes = [...toThreads(state, draft.now), ...works, ...keys];
  await parts.log.append({ type: 'create', session, frames: [...frames, ...draft.frames], changes });
  return kept;
}

/**
 * Without deltas: what they said is said again as a whole when it was complete. What was written together with the last
 * frame comes along, since it means nothing apart.
 */
async function readPrefix(store: Pick<Store, 'read'>, request: ForkSession): Promise<NewSessionFrame[]> {
  const { sourceId: sessionId, upTo = Number.POSITIVE_INFINITY } = request;
  const { forkBytesMax: bytesMax } = limits;
  const frames: NewSessionFrame[] = [];
  let [seq, bytes, isWhole] = [0, 0, true];
  for await (const stored of readFrames(store, sessionId, upTo)) {
    // In an old log, where nothing says what was written together, it is what happened in one moment.
    if (stored.seq > upTo && (isWhole || stored.value.time !== frames.at(-1)?.time)) break;
    isWhole = stored.isLast;
    if (stored.isDelta) continue;
    seq = stored.seq;
    bytes += stored.bytes.length;
    if (bytes > bytesMax) {
      throw sessionError('not_forkable', `${sessionId} has more than ${bytesMax} bytes up to there`);
    }
    const { threadId, turn, time, type, payload } = toSessionFrame(stored.value);
    // Without its place in the other log, and still the payload of its type.
    frames.push({ threadId, turn, time, type, payload, isLast: isWhole, line: stored.bytes } as NewSessionFrame);
  }
  return begun(frames, sessionId, seq);
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

/** Its first frame says where it comes from. */
function begun(frames: NewSessionFrame[], sessionId: string, seq: number): NewSessionFrame[] {
  const [first, ...rest] = frames;
  if (first?.type !== 'session.created') throw sessionError('not_forkable', `${sessionId} has nothing up to there`);
  const payload = { ...first.payload, forked_from: { session_id: sessionId, seq } };
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
  // It happened elsewhere: no program here has its conversation.
  if (isProgram(state) && state.created.is_read_only === true) {
    throw sessionError('not_forkable', `${sourceId} was imported, and its program is not here`);
  }
  if (state.status === 'terminated') throw sessionError('not_forkable', `${sourceId} had ended there`);
}

/** Those who were delegated to first, and nobody is told: a report would begin the next turn of whoever waits for it. */
function stopAll(draft: Draft): void {
  for (const thread of [...draft.state.threads.values()].toReversed()) {
    if (thread.turn === null) continue;
    closeOpen(draft, thread);
    cancelTurn(draft, thread, { isReported: false });
  }
}

function change(draft: Draft, { title, agent: toAgent, sourceId }: ForkSession): void {
  const agent = toAgent?.(draft.state.agent);
  // What one has said is not in the memory of the other.
  if (agent !== undefined && isProgram({ agent }) !== isProgram(draft.state)) {
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
