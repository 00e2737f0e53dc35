import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Signal } from '../store.ts';
import { commitOne, type Outcome, type Write } from '../write.ts';
import {
  append,
  type CreateStore,
  codeOf,
  create,
  enqueue,
  frames,
  newSession,
  numRuns,
  owned,
  readAll,
  show,
  start,
  withStore,
} from './samples.suite.ts';

export function writesSuite(createStore: CreateStore): void {
  it('[T5] a session begins with its frames, threads and inputs, all or nothing', () =>
    withStore(createStore, async ({ store }) => {
      const thread = {
        id: 'sthr_1',
        parentThreadId: null,
        status: 'running' as const,
        createdAt: start,
        data: { n: 1 },
      };
      const changes = [{ type: 'create_thread' as const, thread }, enqueue('sevt_1')];
      const write: Write = { type: 'create', session: newSession('sesn_1'), frames: frames('a', 'b'), changes };
      expect(await commitOne(store, write)).toEqual({ firstSeq: 1, lastSeq: 2 });
      expect(await store.threads.get('sesn_1', 'sthr_1')).toEqual({
        ...thread,
        sessionId: 'sesn_1',
        updatedAt: start,
        archivedAt: null,
      });
      expect(await store.inputs.peek('sesn_1', 9)).toHaveLength(1);
      expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 a', '2 b']);
      expect(await codeOf(commitOne(store, write))).toBe('already_exists');
      const twice: Write = { ...write, session: newSession('sesn_2'), changes: [changes[0]!, changes[0]!] };
      expect(await codeOf(commitOne(store, twice))).toBe('already_exists');
      expect(await store.sessions.get('w1', 'sesn_2')).toBeUndefined();
      expect(await store.threads.get('sesn_2', 'sthr_1')).toBeUndefined();
    }));

  it('[T5] a refused write leaves neither frame nor record behind: a status and its event are never apart', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const running = { type: 'update_session', updatedAt: start + 1, patch: { status: 'running' } } as const;
      expect(await commitOne(store, append('sesn_1', fence, ['running'], [{ ...running, ifRevision: 1 }]))).toEqual({
        firstSeq: 1,
        lastSeq: 1,
      });
      const idle = { ...running, patch: { status: 'idle' as const, data: { a: 1 } } };
      const bad = [
        [idle, { ...idle, ifRevision: 1 }, 'version_conflict'],
        [idle, { type: 'update_thread', threadId: 'sthr_9', updatedAt: start, patch: {} }, 'not_found'],
        [idle, { type: 'consume_inputs', inputIds: ['sevt_9'] }, 'not_found'],
        [enqueue('sevt_1'), enqueue('sevt_1'), 'already_exists'],
        [idle, { type: 'resolve_approval', approvalId: 'sevt_9', time: start, data: {} }, 'not_found'],
      ] as const;
      for (const [good, refused, code] of bad) {
        expect(await codeOf(commitOne(store, append('sesn_1', fence, ['idle'], [good, refused])))).toBe(code);
      }
      expect(await store.sessions.get('w1', 'sesn_1')).toMatchObject({ status: 'running', revision: 2, data: {} });
      expect(await store.inputs.peek('sesn_1', 9)).toEqual([]);
      expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 running']);
    }));

  it('[T7] one refused write of a commit does not affect the others, except later ones of its session', () =>
    withStore(createStore, async ({ store }) => {
      const [one, two] = [await owned(store, 'sesn_1'), await owned(store, 'sesn_2')];
      const outcomes = await store.commit([
        append('sesn_1', one, ['a']),
        append('sesn_2', two, ['x']),
        append('sesn_1', one, ['b'], [{ type: 'consume_inputs', inputIds: ['sevt_9'] }]),
        append('sesn_1', one, ['c']),
        { type: 'submit', sessionId: 'sesn_1', changes: [enqueue('sevt_1')] },
        append('sesn_2', two, ['y']),
        append('sesn_9', 1, ['z']),
      ]);
      expect(outcomes.map(toCode)).toEqual(['1-1', '1-1', 'not_found', 'write_skipped', '2-1', '2-2', 'not_found']);
      expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 a']);
      expect(show(await readAll(store, 'sesn_2'))).toEqual(['1 x', '2 y']);
      expect(await store.inputs.peek('sesn_1', 9)).toHaveLength(1);
      expect(await commitOne(store, append('sesn_1', one, ['d']))).toEqual({ firstSeq: 2, lastSeq: 2 });
    }));

  it('[T6] whatever is written in whatever commits, seq is dense from 1 in each session and keeps the order', async () => {
    const write = fc.record({
      session: fc.integer({ min: 0, max: 2 }),
      count: fc.integer({ min: 0, max: 4 }),
      isStale: fc.boolean(),
    });
    const commits = fc.array(fc.array(write, { maxLength: 6 }), { maxLength: 6 });
    const property = fc.asyncProperty(commits, async (all) => {
      await withStore(createStore, async ({ store }) => {
        const fences = [await owned(store, 'sesn_0'), await owned(store, 'sesn_1'), await owned(store, 'sesn_2')];
        const expected: string[][] = [[], [], []];
        let made = 0;
        for (const commit of all) {
          const writes = commit.map(({ session, count, isStale }) => {
            const texts = Array.from({ length: count }, () => `f${made++}`);
            return { session, texts, write: append(`sesn_${session}`, fences[session]! + (isStale ? -1 : 0), texts) };
          });
          const outcomes = await store.commit(writes.map((each) => each.write));
          for (const [index, outcome] of outcomes.entries()) {
            const { session, texts } = writes[index]!;
            if (!outcome.ok) continue;
            expect(outcome.firstSeq).toBe(expected[session]!.length + 1);
            expected[session]!.push(...texts.map((text, at) => `${outcome.firstSeq + at} ${text}`));
            expect(outcome.lastSeq).toBe(expected[session]!.length);
          }
        }
        const heads = await store.heads(['sesn_0', 'sesn_1', 'sesn_2', 'sesn_9']);
        expect([...heads.values()]).toEqual(expected.map(({ length }) => length));
        for (const [index, texts] of expected.entries()) {
          expect(show(await readAll(store, `sesn_${index}`))).toEqual(texts);
        }
      });
    });
    await fc.assert(property, { numRuns });
  });

  it('[T18] deleting a session deletes all its data, and its owner cannot continue', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const approval = { id: 'sevt_2', threadId: 'sthr_1', createdAt: start, data: {} };
      const thread = { id: 'sthr_1', parentThreadId: null, status: 'idle' as const, createdAt: start, data: {} };
      await commitOne(
        store,
        append(
          'sesn_1',
          fence,
          ['a'],
          [enqueue('sevt_1'), { type: 'create_thread', thread }, { type: 'create_approval', approval }],
        ),
      );
      expect(await codeOf(commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence: fence - 1 }))).toBe(
        'stale_owner',
      );
      await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
      expect(await store.sessions.get('w1', 'sesn_1')).toBeUndefined();
      expect(await store.threads.get('sesn_1', 'sthr_1')).toBeUndefined();
      expect(await store.inputs.peek('sesn_1', 9)).toEqual([]);
      expect((await store.approvals.list({ workspaceId: 'w1', limit: 9 })).items).toEqual([]);
      expect(await codeOf(store.read({ sessionId: 'sesn_1', after: 0, entriesMax: 9, bytesMax: 999 }))).toBe(
        'not_found',
      );
      expect(await codeOf(commitOne(store, append('sesn_1', fence, ['b'])))).toBe('not_found');
      expect(await store.heads(['sesn_1'])).toEqual(new Map());
      await commitOne(store, create('sesn_1'));
      expect(await readAll(store, 'sesn_1')).toEqual([]);
      expect(await store.inputs.peek('sesn_1', 9)).toEqual([]);
    }));

  it('[T16] a subscriber receives signals of frames, inputs and deletions after they are committed', () =>
    withStore(createStore, async ({ store }) => {
      const heard: Signal[] = [];
      const heads: unknown[] = [];
      const stop = store.subscribe((signals) => {
        heard.push(...signals);
        heads.push(store.heads(['sesn_1']));
      });
      const fence = await owned(store, 'sesn_1');
      await commitOne(store, append('sesn_1', fence, ['a', 'b']));
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [enqueue('sevt_1')] });
      await codeOf(commitOne(store, append('sesn_1', fence - 1, ['c'])));
      await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
      await settled(() => heard.length >= 3);
      expect(heard).toEqual([
        { type: 'frames', sessionId: 'sesn_1', head: 2 },
        { type: 'inputs', sessionId: 'sesn_1' },
        { type: 'deleted', sessionId: 'sesn_1' },
      ]);
      expect(await heads[0]).toEqual(new Map([['sesn_1', 2]]));
      stop();
      await owned(store, 'sesn_2');
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(heard).toHaveLength(3);
    }));

  it('[T19] a closed store refuses everything, and can be closed again', () =>
    withStore(createStore, async ({ store }) => {
      await commitOne(store, create('sesn_1'));
      await store.close();
      expect(await codeOf(commitOne(store, create('sesn_2')))).toBe('closed');
      expect(await codeOf(store.sessions.get('w1', 'sesn_1'))).toBe('closed');
      expect(await codeOf(store.leases.findOrphans(1))).toBe('closed');
      expect(await codeOf(store.read({ sessionId: 'sesn_1', after: 0, entriesMax: 1, bytesMax: 1 }))).toBe('closed');
    }));
}

function toCode(outcome: Outcome): string {
  return outcome.ok ? `${outcome.firstSeq}-${outcome.lastSeq}` : outcome.error.code;
}

/** Signals may come late. */
async function settled(isDone: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !isDone(); round++) await new Promise((resolve) => setTimeout(resolve, 5));
}
