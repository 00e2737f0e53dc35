import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  commitOne,
  createLog,
  encodeFrame,
  type NewFrame,
  openSqliteStore,
  type SessionLog,
  type Store,
} from '@fleetloom/server';

export interface BenchLog {
  readonly store: Store;
  readonly log: SessionLog;
  /** One session for each writer. */
  readonly sessions: { readonly sessionId: string; readonly fence: number; head: number }[];
  close(): Promise<void>;
}

/** A file on the disk, with a session for each writer. */
export async function openBenchLog(writers: number): Promise<BenchLog> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const store = await openSqliteStore({ path: join(folder, 'bench.db') });
  const log = createLog({ store });
  const sessions = [];
  for (let writer = 0; writer < writers; writer++) {
    const sessionId = `sesn_${writer}`;
    const agent = { agentId: 'agent_1', agentVersion: 1, environmentId: 'env_1' };
    const session = { workspaceId: 'w', id: sessionId, ...agent, status: 'idle' as const, createdAt: 0, data: {} };
    await log.append({ type: 'create', session, frames: [], changes: [] });
    const acquired = await store.leases.acquire({ sessionId, owner: 'bench', ttlMs: 3_600_000 });
    if (!acquired.ok) throw new Error('the lease of a new session is taken');
    sessions.push({ sessionId, fence: acquired.fence, head: 0 });
  }
  const close = async () => {
    await log.close();
    await store.close();
    rmSync(folder, { recursive: true });
  };
  return { store, log, sessions, close };
}

/** Appends that a writer has in progress before it waits, like a model that is faster than the disk. */
const WINDOW = 64;

/** Runs all writers at once, one frame per append, each with a reader; resolves when the readers have received all frames. */
export async function writeAndTail({ log, sessions }: BenchLog, frames: number): Promise<void> {
  const each = frames / sessions.length;
  const readers = sessions.map(async ({ sessionId, head }) => {
    let seen = head;
    for await (const entries of log.tail({ sessionId, after: head })) {
      seen = entries.at(-1)!.lastSeq;
      if (seen >= head + each) return;
    }
  });
  await Promise.all(
    sessions.map(async (session) => {
      const { sessionId, fence } = session;
      for (let done = 0; done < each; done += WINDOW) {
        const count = Math.min(WINDOW, each - done);
        const appends = Array.from({ length: count }, (_, at) =>
          log.append({ type: 'append', sessionId, fence, frames: [deltaFrame(done + at)], changes: [] }),
        );
        await Promise.all(appends);
      }
    }),
  );
  await Promise.all(readers);
  for (const session of sessions) session.head += each;
}

/** Writes the same frames, each in a commit of its own. */
export async function writeNaively({ store, sessions }: BenchLog, frames: number): Promise<void> {
  for (let index = 0; index < frames; index++) {
    const session = sessions[index % sessions.length]!;
    const { sessionId, fence } = session;
    const encoded = [encodeFrame(deltaFrame(index))];
    await commitOne(store, { type: 'append', sessionId, fence, frames: encoded, changes: [] });
    session.head++;
  }
}

/** Does the minimum work of any stream: serialises each frame and calls a listener. */
export function emitInMemory(writers: number, frames: number): void {
  let bytes = 0;
  const listeners = Array.from({ length: writers }, () => (chunk: Uint8Array) => void (bytes += chunk.length));
  for (let index = 0; index < frames; index++) listeners[index % writers]!(encodeFrame(deltaFrame(index)).bytes);
  if (bytes === 0) throw new Error('nothing was emitted');
}

/** Lets each turn emit at its own pace without waiting. Returns the delay of each delta to its reader in ms. */
export async function measureLatency(
  { log, sessions }: BenchLog,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<number[]> {
  const count = perSecond * seconds;
  const tookMs: number[] = [];
  await Promise.all(
    sessions.map(async ({ sessionId, fence }, writer) => {
      const sentAt: number[] = [];
      const reader = (async () => {
        for await (const entries of log.tail({ sessionId, after: 0 })) {
          const now = performance.now();
          for (const { seq } of entries) tookMs.push(now - sentAt[seq - 1]!);
          if (entries.at(-1)!.lastSeq === count) return;
        }
      })();
      const everyMs = 1_000 / perSecond;
      const startAt = performance.now() + (writer / sessions.length) * everyMs;
      const appends: Promise<unknown>[] = [];
      for (let index = 0; index < count; index++) {
        const waitMs = startAt + index * everyMs - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        sentAt.push(performance.now());
        appends.push(log.append({ type: 'append', sessionId, fence, frames: [deltaFrame(index)], changes: [] }));
      }
      await Promise.all([...appends, reader]);
    }),
  );
  // The code is compiled during the first second.
  return tookMs.slice(sessions.length * perSecond);
}

function deltaFrame(index: number): NewFrame {
  const payload = { message: 'sevt_0101kdvdna00w8v1yk3x2q7d', index: 0, text: `word ${index} and some more words` };
  const turn = { streamId: 1, depth: 1, run: 'req_0101kdvdna00w8v1yk3x2q7d' };
  return {
    threadId: 'sthr_0101kdvdna00w8v1yk3x2q7d',
    turn,
    time: 1_767_225_600_000 + index,
    type: 'text_delta',
    payload,
  };
}
