import { createManualClock, type ManualClock } from '../../base/clock.ts';
import { type Entry, encodeFrame, type Frame, type NewFrame } from '../frame.ts';
import type { NewSession } from '../records.ts';
import type { Store } from '../store.ts';
import { type Change, commitOne, type Write } from '../write.ts';

/** How an implementation gives the suite an empty store. The suite closes it. */
export type CreateStore = (options: { clock: ManualClock }) => Promise<Store>;

export interface Sample {
  readonly store: Store;
  readonly clock: ManualClock;
}

export const start = Date.UTC(2026, 0, 1);

/** Of each property: every run opens a store of its own, which takes time on a disk. */
export const numRuns = process.env['FLEETLOOM_LONG'] === '1' ? 300 : 8;

/** Runs with an empty store, and closes it whatever happens. */
export async function withStore(createStore: CreateStore, run: (sample: Sample) => Promise<void>): Promise<void> {
  const clock = createManualClock(start);
  const store = await createStore({ clock });
  try {
    await run({ store, clock });
  } finally {
    await store.close();
  }
}

export function sampleFrame(text: string, over: Partial<NewFrame> = {}): NewFrame {
  return { threadId: 'sthr_1', turn: null, time: start, type: 'text', payload: { text }, ...over };
}

export function frames(...texts: string[]) {
  return texts.map((text) => encodeFrame(sampleFrame(text)));
}

export function newSession(id: string, over: Partial<NewSession> = {}): NewSession {
  const agent = { agentId: 'agent_1', agentVersion: 1, environmentId: 'env_1' };
  return { workspaceId: 'w1', id, ...agent, status: 'idle', createdAt: start, data: {}, ...over };
}

export function create(id: string, over: Partial<NewSession> = {}): Write {
  return { type: 'create', session: newSession(id, over), frames: [], changes: [] };
}

export function append(sessionId: string, fence: number, texts: string[], changes: Change[] = []): Write {
  return { type: 'append', sessionId, fence, frames: frames(...texts), changes };
}

export function enqueue(id: string): Extract<Change, { type: 'enqueue_input' }> {
  return { type: 'enqueue_input', input: { id, threadId: null, time: start, data: { say: id } } };
}

/** A session with an owner. */
export async function owned(store: Store, sessionId: string, owner = 'node-1'): Promise<number> {
  await commitOne(store, create(sessionId));
  const acquired = await store.leases.acquire({ sessionId, owner, ttlMs: 10_000 });
  if (!acquired.ok) throw new Error('no other owner can hold it');
  return acquired.fence;
}

export async function readAll(store: Pick<Store, 'read'>, sessionId: string, after = 0): Promise<Entry[]> {
  const all: Entry[] = [];
  while (true) {
    const cursor = all.at(-1)?.lastSeq ?? after;
    const entries = await store.read({ sessionId, after: cursor, entriesMax: 7, bytesMax: 500 });
    if (entries.length === 0) return all;
    all.push(...entries);
  }
}

/** `1 a`, `2 b`, and `3-5` for a range that is pruned. */
export function show(entries: readonly Entry[]): string[] {
  return entries.map((entry) => {
    if (entry.kind === 'pruned') return `${entry.seq}-${entry.lastSeq}`;
    return `${entry.seq} ${textOf(entry.value)}`;
  });
}

export function textOf({ payload }: Frame): string {
  return typeof payload['text'] === 'string' ? payload['text'] : JSON.stringify(payload['text']);
}

/** What a refusal says to programs. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'ok';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
