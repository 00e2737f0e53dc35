import { type SessionFrame, toSessionFrame } from '../../frames/frames.ts';
import type { RunRecord } from '../../frames/record-data.ts';
import { runKey } from '../../frames/run-key.ts';
import type { SessionLog } from '../../store/log.ts';
import type { SessionRecord } from '../../store/records.ts';
import { type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import { readBackward, readForward } from '../../views/read-frames.ts';
import { dataOf } from './read-session.ts';

export interface FoundRun {
  readonly session: SessionRecord;
  readonly run: RunRecord;
}

/** Runs by their own ids. */
export interface RunFinder {
  /** Undefined if there is none, or the caller may not see it. */
  find(workspaceId: string, runId: string): Promise<FoundRun | undefined>;
  /** The frame before its first one. */
  findStart(found: FoundRun): Promise<number>;
  findLastSeq(found: FoundRun): Promise<number>;
  /** Until it is over, or so long. */
  waitForEnd(found: FoundRun, waitMs: number): Promise<void>;
}

export interface RunFinderOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly schedule?: Schedule;
}

export function createRunFinder({ store, log, schedule = systemSchedule }: RunFinderOptions): RunFinder {
  return { find, findStart, findLastSeq, waitForEnd };

  async function find(workspaceId: string, runId: string): Promise<FoundRun | undefined> {
    const found = await store.keys.get(workspaceId, runKey(runId));
    const sessionId = found?.result['session_id'];
    const session = typeof sessionId === 'string' ? await store.sessions.get(workspaceId, sessionId) : undefined;
    if (session === undefined) return undefined;
    // The newest run stands in the record, older ones only in the log.
    const { run: newest } = dataOf(session);
    const run = newest?.id === runId ? newest : await readRun(session.id, runId);
    return run === undefined ? undefined : { session, run };
  }

  async function readRun(sessionId: string, runId: string): Promise<RunRecord | undefined> {
    let found: RunRecord | undefined;
    for await (const frame of readForward(store, sessionId, 0)) {
      if (frame.turn?.run !== runId) continue;
      if (frame.type === 'run.started') {
        const { agent_name, message } = frame.payload;
        found = { id: runId, started_at: frame.time, ended_at: null, state: 'running', agent_name, message };
      } else if (frame.type === 'run.ended' && found !== undefined) {
        const { ok, stop_reason: end } = frame.payload;
        const state = ok ? 'completed' : end === 'cancelled' ? 'cancelled' : 'failed';
        return { ...found, ended_at: frame.time, state };
      }
    }
    return found;
  }

  async function findStart({ session, run }: FoundRun): Promise<number> {
    for await (const frame of readBackward(store, session.id, null)) {
      if (isOf(run, frame, 'run.started')) return frame.seq - 1;
    }
    return 0;
  }

  async function findLastSeq({ session: { id }, run }: FoundRun): Promise<number> {
    const head = (await store.heads([id])).get(id) ?? 0;
    if (run.ended_at === null) return head;
    // Nearly always it is one of the last frames.
    for await (const frame of readForward(store, id, Math.max(0, head - FRAMES_BEHIND_END), head)) {
      if (isOf(run, frame, 'run.ended')) return frame.seq;
    }
    for await (const frame of readBackward(store, id, null)) if (isOf(run, frame, 'run.ended')) return frame.seq;
    return head;
  }

  async function waitForEnd(found: FoundRun, waitMs: number): Promise<void> {
    const { session, run } = found;
    const waiting = new AbortController();
    const cancel = schedule(() => waiting.abort(), waitMs);
    const after = await findStart(found);
    for await (const entries of log.tail({ sessionId: session.id, after, signal: waiting.signal })) {
      const frames = entries.flatMap((entry) => (entry.kind === 'frame' ? [toSessionFrame(entry.value)] : []));
      if (frames.some((frame) => isOf(run, frame, 'run.ended'))) break;
    }
    cancel();
  }
}

/** What is written with the end of a run behind it, and a little more. */
const FRAMES_BEHIND_END = 16;

function isOf({ id }: RunRecord, { type, turn }: SessionFrame, wanted: 'run.started' | 'run.ended'): boolean {
  return type === wanted && turn?.run === id;
}
