import { toSessionFrame } from '../../frames/frames.ts';
import type { RunRecord } from '../../frames/record-data.ts';
import { runKey } from '../../frames/run-key.ts';
import type { SessionLog } from '../../log/log.ts';
import type { SessionRecord } from '../../store/records.ts';
import { type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import { readOne } from '../../views/read-frames.ts';
import { dataOf } from './read-session.ts';

/** A run and the session that it belongs to. */
export interface FoundRun {
  readonly session: SessionRecord;
  readonly run: RunRecord;
}

/** Finds runs by their ids. */
export interface RunFinder {
  /** Undefined if the workspace has no such run. */
  find(workspaceId: string, runId: string): Promise<FoundRun | undefined>;
  /** The `seq` of the frame before the first one of the run. */
  findStart(found: FoundRun): Promise<number>;
  findLastSeq(found: FoundRun): Promise<number>;
  /** Resolves when the run has ended, or after `waitMs`. */
  waitForEnd(found: FoundRun, waitMs: number): Promise<void>;
}

/** The sources of runs. */
export interface RunFinderOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly schedule?: Schedule;
}

/** Creates the finder of a store. */
export function createRunFinder({ store, log, schedule = systemSchedule }: RunFinderOptions): RunFinder {
  return { find, findStart, findLastSeq, waitForEnd };

  async function find(workspaceId: string, runId: string): Promise<FoundRun | undefined> {
    const found = await store.keys.get(workspaceId, runKey(runId));
    const sessionId = found?.result['session_id'];
    const session = typeof sessionId === 'string' ? await store.sessions.get(workspaceId, sessionId) : undefined;
    if (session === undefined) return undefined;
    // The session record has the newest run; older ones are only in the log.
    const { run: newest } = dataOf(session);
    const run = newest?.id === runId ? newest : await readRun(session.id, runId);
    return run === undefined ? undefined : { session, run };
  }

  async function readRun(sessionId: string, runId: string): Promise<RunRecord | undefined> {
    const place = await store.runs.get(sessionId, runId);
    const started = place === undefined ? undefined : await readOne(store, sessionId, place.firstSeq);
    if (place === undefined || started?.type !== 'run.started') return undefined;
    const { agent_name, message } = started.payload;
    const run = { id: runId, started_at: place.startedAt, ended_at: place.endedAt, agent_name, message };
    const ended = place.lastSeq === null ? undefined : await readOne(store, sessionId, place.lastSeq);
    if (ended?.type !== 'run.ended') return { ...run, state: 'running' };
    const { ok, stop_reason: end } = ended.payload;
    return { ...run, state: ok ? 'completed' : end === 'cancelled' ? 'cancelled' : 'failed' };
  }

  async function findStart({ session, run }: FoundRun): Promise<number> {
    const place = await store.runs.get(session.id, run.id);
    return place === undefined ? 0 : place.firstSeq - 1;
  }

  async function findLastSeq({ session: { id }, run }: FoundRun): Promise<number> {
    const head = (await store.heads([id])).get(id) ?? 0;
    if (run.ended_at === null) return head;
    return (await store.runs.get(id, run.id))?.lastSeq ?? head;
  }

  async function waitForEnd({ session, run }: FoundRun, waitMs: number): Promise<void> {
    const waiting = new AbortController();
    const cancel = schedule(() => waiting.abort(), waitMs);
    // The head is read before the index: a run that is open in the index ends after that head.
    const after = (await store.heads([session.id])).get(session.id) ?? 0;
    const isOver = (await store.runs.get(session.id, run.id))?.lastSeq != null;
    const tail = isOver ? [] : log.tail({ sessionId: session.id, after, signal: waiting.signal });
    for await (const entries of tail) {
      const frames = entries.flatMap((entry) => (entry.kind === 'frame' ? [toSessionFrame(entry.value)] : []));
      if (frames.some(({ type, turn }) => type === 'run.ended' && turn?.run === run.id)) break;
    }
    cancel();
  }
}
