import { logLimits } from '../log/limits.ts';
import { storeLimits } from '../store/limits.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sessionLimits } from '../sessions/core/limits.ts';
import { DEFAULT_WORKSPACE } from '../keys/credential.ts';
import { type OpenedLog, openLog } from './open-log.ts';
import { readState } from '../sessions/runtime/read-state.ts';
import { STATE_CHECKPOINT } from '../sessions/core/state/saved-state.ts';
import { writeStateCheckpoint } from '../sessions/runtime/write-state-checkpoint.ts';
import { seedRun } from '../../../../test/server/sessions/size.suite.ts';
import type { NewFrame } from '../store/frame.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { FLEET_CHECKPOINT } from '../views/fleet/view-checkpoint.ts';

const { checkpointFrames: spacing } = logLimits;
const time = Date.UTC(2026, 0, 1);
const turn = { streamId: 0, depth: 0, run: 'req_sesn_1' };
const delta: NewFrame = {
  threadId: 'sthr_sesn_1',
  turn,
  time,
  type: 'delta.text',
  payload: { id: 'sevt_1', text: 'x' },
};

let store: Store;
let opened: OpenedLog;
const problems: unknown[] = [];
beforeEach(() => {
  store = createMemoryStore();
  opened = openLog(store, (problem) => problems.push(problem));
});
afterEach(async () => {
  await opened.log.close();
  await store.close();
  expect(problems).toEqual([]);
});

async function append(frames: readonly NewFrame[]): Promise<void> {
  const lease = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'test', ttlMs: 60_000 });
  const fence = lease.ok ? lease.fence : 0;
  await opened.log.append({ type: 'append', sessionId: 'sesn_1', fence, frames, changes: [] });
}

const seqOf = async (kind: string) =>
  (await store.checkpoints.findSeq({ sessionId: 'sesn_1', kind, upTo: Number.MAX_SAFE_INTEGER }))?.seq;

async function until(isMet: () => Promise<boolean>): Promise<void> {
  while (!(await isMet())) await new Promise((resolve) => setTimeout(resolve, 5));
}

it('[O21] a run shorter than the checkpoint spacing has no checkpoint, and a run of twice the spacing has one', async () => {
  await seedRun(store, { id: 'sesn_1', frames: 10, time, isOpen: true, deltas: 3 });
  const { firstSeq } = (await store.runs.get('sesn_1', 'req_sesn_1'))!;
  const head = (await store.heads(['sesn_1'])).get('sesn_1')!;
  await append(Array.from({ length: firstSeq + spacing - 2 - head }, () => delta));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await seqOf(FLEET_CHECKPOINT)).toBeUndefined();
  await append(Array.from({ length: spacing }, () => delta));
  await append([delta]);
  await until(async () => (await seqOf(FLEET_CHECKPOINT)) !== undefined);
  expect(await seqOf(FLEET_CHECKPOINT)).toBe(firstSeq - 1 + spacing);
  for (let more = 0; more < 3; more++) await append(Array.from({ length: spacing }, () => delta));
  await until(async () => (await seqOf(FLEET_CHECKPOINT))! >= firstSeq - 1 + 3 * spacing);
});

it('[O21] the state of a session is stored after enough frames other than deltas, and the next read starts from it', async () => {
  await seedRun(store, { id: 'sesn_1', frames: 10, time, isOpen: true, deltas: 3 });
  await append(Array.from({ length: 2 * spacing }, () => delta));
  await append([delta]);
  await until(async () => (await seqOf(FLEET_CHECKPOINT)) !== undefined);
  // Deltas leave no trace in it, so it is not worth keeping.
  expect(await seqOf(STATE_CHECKPOINT)).toBeUndefined();
  const content = [{ type: 'text', text: 'y'.repeat(sessionLimits.stateCheckpointBytes / 4) }];
  const message = { ...delta, type: 'user.message', payload: { id: 'sevt_2', content, is_processed: true } };
  await append([message, message, message, message]);
  const whole = await readState(store, 'sesn_1');
  let asked = 0;
  await readState(store, 'sesn_1', { onLong: () => asked++ });
  expect(asked).toBe(1);
  opened.onLong('sesn_1', (await store.heads(['sesn_1'])).get('sesn_1')!);
  await until(async () => (await seqOf(STATE_CHECKPOINT)) !== undefined);
  const reads: number[] = [];
  const counted: Store = { ...store, read: (request) => (reads.push(request.after), store.read(request)) };
  expect(await readState(counted, 'sesn_1', { onLong: () => asked++ })).toEqual(whole);
  expect(reads).toEqual([(await store.heads(['sesn_1'])).get('sesn_1')]);
  expect(asked).toBe(1);
});

it('[O21] a long open run without checkpoints gets them at the start of a server, and a request for a deleted session is ignored', async () => {
  await seedRun(store, { id: 'sesn_1', frames: 3 * spacing, time, isOpen: true });
  await seedRun(store, { id: 'sesn_2', frames: 100, time, isOpen: true });
  await opened.catchUp([DEFAULT_WORKSPACE]);
  await until(async () => ((await seqOf(FLEET_CHECKPOINT)) ?? 0) > 2 * spacing);
  opened.onLong('sesn_none', 10 * spacing);
  await new Promise((resolve) => setTimeout(resolve, 20));
});

it('[O21] a state that exceeds the limit of checkpoints is not stored, and not tried again before the log has doubled', async () => {
  await seedRun(store, { id: 'sesn_1', frames: 10, time, isOpen: true, deltas: 3 });
  const content = [{ type: 'text', text: 'y'.repeat(storeLimits.checkpointBytesMax / 4) }];
  const message = { ...delta, type: 'user.message', payload: { id: 'sevt_2', content, is_processed: true } };
  for (let count = 0; count < 4; count++) await append([message]);
  const head = (await store.heads(['sesn_1'])).get('sesn_1')!;
  const tooLarge = new Map<string, number>();
  const { signal } = new AbortController();
  const reads: number[] = [];
  const counted: Store = { ...store, read: (request) => (reads.push(request.after), store.read(request)) };
  const write = (at: number) =>
    writeStateCheckpoint({ store: counted, sessionId: 'sesn_1', head: at, signal, tooLarge });
  await write(head);
  expect([...tooLarge]).toEqual([['sesn_1', head]]);
  expect(await seqOf(STATE_CHECKPOINT)).toBeUndefined();
  reads.length = 0;
  await write(2 * head - 1);
  expect(reads).toEqual([]);
  await write(2 * head);
  expect(reads.length).toBeGreaterThan(0);
});

it('[T75] a catch-up that starts after the log was closed does not read the store', async () => {
  await opened.log.close();
  await store.close();
  await expect(opened.catchUp([DEFAULT_WORKSPACE])).resolves.toBeUndefined();
});
