import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeFrame, type NewFrame } from '../frame.ts';
import type { Checkpoints, NewCheckpoint, Store } from '../store.ts';
import { commitOne, type Write } from '../write.ts';
import {
  append,
  codeOf,
  type CreateStore,
  create,
  numRuns,
  owned,
  readAll,
  sampleFrame,
  show,
  start,
  withStore,
} from './samples.suite.ts';

/** The indexes and checkpoints that make the cost of a lookup independent of the length of a log. */
export function indexesSuite(createStore: CreateStore): void {
  it('[T50] a run is found by its id, by a frame of it and by its start time, as soon as its first frame is committed', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      await commitOne(store, write('sesn_1', fence, [event('a'), started('req_1', 10), delta('b')]));
      expect(await store.runs.get('sesn_1', 'req_1')).toEqual(place('req_1', 2, null, 10, null));
      await commitOne(store, write('sesn_1', fence, [ended('req_1', 20), event('c')]));
      // Two runs in one commit, and a start time before that of the previous run, as when a clock is set back.
      await commitOne(
        store,
        write('sesn_1', fence, [started('req_2', 15), ended('req_2', 16), started('req_3', 30), event('d')]),
      );
      const [one, two, three] = [
        place('req_1', 2, 4, 10, 20),
        place('req_2', 6, 7, 15, 16),
        place('req_3', 8, null, 30, null),
      ];
      const { runs } = store;
      expect(await Promise.all(['req_1', 'req_2', 'req_3', 'req_4'].map((id) => runs.get('sesn_1', id)))).toEqual([
        one,
        two,
        three,
        undefined,
      ]);
      const at = [1, 2, 4, 5, 6, 7, 8, 99];
      expect(await Promise.all(at.map((seq) => runs.findAt('sesn_1', seq)))).toEqual([
        undefined,
        one,
        one,
        one,
        two,
        two,
        three,
        three,
      ]);
      expect(await Promise.all([0, 11, 16, 31].map((time) => runs.findSince('sesn_1', time)))).toEqual([
        one,
        two,
        three,
        undefined,
      ]);
      expect(await codeOf(runs.findAt('sesn_9', 1))).toBe('not_found');
    }));

  it('[T50] a refused write indexes no run, and a deleted session takes its runs along', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      expect(await codeOf(commitOne(store, write('sesn_1', fence - 1, [started('req_1', 1)])))).toBe('stale_owner');
      expect(await store.runs.findAt('sesn_1', 9)).toBeUndefined();
      await commitOne(store, write('sesn_1', fence, [started('req_1', 1)]));
      await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
      expect((await store.runs.list({ workspaceId: 'w1', isOpen: true, limit: 9 })).items).toEqual([]);
      expect(await codeOf(store.runs.get('sesn_1', 'req_1'))).toBe('not_found');
    }));

  it('[T51] open runs of a workspace, and runs since a time, are listed in pages, newest first', () =>
    withStore(createStore, async ({ store }) => {
      // A fork has the runs of its origin: the same ids at the same times.
      for (const [index, id] of ['sesn_1', 'sesn_2', 'sesn_3'].entries()) {
        const fence = await owned(store, id);
        const frames = [started('req_1', 1), ended('req_1', 2), started(`req_${id}`, 5 + index), started('req_9', 3)];
        await commitOne(store, write(id, fence, frames));
      }
      await commitOne(store, create('sesn_4', { workspaceId: 'w2' }));
      const list = async (request: { isOpen: true } | { startedFrom: number }, limit: number) => {
        const listed: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const from: { cursor?: string } = cursor === '' ? {} : { cursor };
          const page = await store.runs.list({ workspaceId: 'w1', limit, ...from, ...request });
          expect(page.items.length).toBeLessThanOrEqual(limit);
          listed.push(...page.items.map(({ sessionId, id }) => `${sessionId} ${id}`));
          cursor = page.next;
        }
        return listed;
      };
      const open = ['sesn_3 req_sesn_3', 'sesn_2 req_sesn_2', 'sesn_1 req_sesn_1'];
      const late = ['sesn_3 req_9', 'sesn_2 req_9', 'sesn_1 req_9'];
      const all = [...open, ...late, 'sesn_3 req_1', 'sesn_2 req_1', 'sesn_1 req_1'];
      for (const limit of [1, 2, 3, 9]) {
        expect(await list({ isOpen: true }, limit)).toEqual([...open, ...late]);
        expect(await list({ startedFrom: 0 }, limit)).toEqual(all);
        expect(await list({ startedFrom: 6 }, limit)).toEqual(open.slice(0, 2));
      }
      expect((await store.runs.list({ workspaceId: 'w2', startedFrom: 0, limit: 9 })).items).toEqual([]);
    }));

  it('[T52] whatever is written and pruned, a read that skips deltas returns every other frame once, with ranges between', async () => {
    const commits = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 });
    const prune = fc.array(fc.nat(60), { maxLength: 20 });
    const property = fc.asyncProperty(commits, prune, fc.nat(64), fc.integer({ min: 1, max: 9 }), async (...given) => {
      const [sizes, pruned, cursor, entriesMax] = given;
      await withStore(createStore, async ({ store }) => {
        const fence = await owned(store, 'sesn_1');
        const wanted: number[] = [];
        let head = 0;
        for (const [index, kinds] of sizes.entries()) {
          // Some are large, so that segments of all kinds meet.
          const text = index % 3 === 0 ? 'x' : 'y'.repeat(1_500);
          await commitOne(
            store,
            write(
              'sesn_1',
              fence,
              kinds.map((isDelta) => (isDelta ? delta(text) : event(text))),
            ),
          );
          for (const isDelta of kinds)
            if (!isDelta) wanted.push(++head);
            else head++;
        }
        const deltas = [...new Set(pruned)].filter((seq) => seq >= 1 && seq <= head && !wanted.includes(seq));
        const ranges = deltas.toSorted((a, b) => a - b).map((seq) => ({ firstSeq: seq, lastSeq: seq }));
        await store.prune('sesn_1', ranges);
        const after = Math.min(cursor, head);
        const seqs: number[] = [];
        let next = after + 1;
        while (true) {
          const request = { sessionId: 'sesn_1', after: next - 1, entriesMax, bytesMax: 4_000, skipsDeltas: true };
          const entries = await store.read(request);
          if (entries.length === 0) break;
          expect(entries.length).toBeLessThanOrEqual(entriesMax);
          for (const entry of entries) {
            expect(entry.seq).toBe(next);
            if (entry.kind === 'frame') seqs.push(entry.seq);
            next = entry.lastSeq + 1;
          }
        }
        expect(next).toBe(head + 1);
        expect(seqs).toEqual(wanted.filter((seq) => seq > after));
        expect(show(await readAll(store, 'sesn_1')).length).toBeGreaterThan(0);
      });
    });
    await fc.assert(property, { numRuns: 2 * numRuns });
  });

  it('[T52] a long stretch of deltas is one range', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      await commitOne(store, write('sesn_1', fence, [event('first')]));
      const many = Array.from({ length: 20_000 }, () => delta('a piece of text'));
      await commitOne(store, write('sesn_1', fence, many));
      await commitOne(store, write('sesn_1', fence, [event('last'), delta('and one')]));
      const request = { sessionId: 'sesn_1', after: 0, entriesMax: 9, bytesMax: 9_000, skipsDeltas: true };
      expect(show(await store.read(request))).toEqual(['1 first', '2-20001', '20002 last', '20003-20003']);
      expect(show(await store.read({ ...request, after: 77 }))[0]).toBe('78-20001');
      expect(await store.read({ ...request, after: 20_003 })).toEqual([]);
    }));

  it('[T53] a single write of 150,000 frames is committed, read and pruned', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const many = Array.from({ length: 150_000 }, () => encoded);
      expect(await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: many, changes: [] })).toEqual(
        {
          firstSeq: 1,
          lastSeq: 150_000,
        },
      );
      await store.prune('sesn_1', [{ firstSeq: 2, lastSeq: 149_999 }]);
      expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 x', '2-149999', '150000 x']);
    }));

  it('[T54] the newest checkpoint at or before a frame is found per kind, and is deleted with its session', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const { checkpoints } = store;
      for (const seq of [10, 20, 30]) await checkpoints.put(checkpoint(seq, 'fold/1'));
      await checkpoints.put(checkpoint(15, 'fold/2'));
      const found = (upTo: number, kind: string) => seqOf(checkpoints, upTo, kind);
      expect(await Promise.all([9, 10, 29, 30, 999].map((upTo) => found(upTo, 'fold/1')))).toEqual([
        undefined,
        10,
        20,
        30,
        30,
      ]);
      expect(await found(Number.POSITIVE_INFINITY, 'fold/1')).toBe(30);
      expect(await found(999, 'fold/2')).toBe(15);
      expect(await found(999, 'fold/3')).toBeUndefined();
      const kept = await checkpoints.find({ sessionId: 'sesn_1', kind: 'fold/1', upTo: 20 });
      expect([kept?.seq, kept?.bytes, Buffer.from(kept!.data).toString()]).toEqual([
        20,
        11,
        'fold up to 20'.slice(0, 11),
      ]);
      expect(await checkpoints.findSeq({ sessionId: 'sesn_1', kind: 'fold/1', upTo: 20 })).toEqual({
        seq: 20,
        bytes: 11,
      });
      // `replacesOlder` deletes older checkpoints of the kind, and keeps newer ones.
      for (const seq of [40, 60, 50]) await checkpoints.put({ ...checkpoint(seq, 'only/1'), replacesOlder: true });
      expect([await found(45, 'only/1'), await found(55, 'only/1'), await found(99, 'only/1')]).toEqual([
        undefined,
        50,
        60,
      ]);
      await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
      expect(await codeOf(found(999, 'fold/1'))).toBe('not_found');
      await checkpoints.put(checkpoint(70, 'fold/1'));
      await commitOne(store, create('sesn_1'));
      expect(await found(999, 'fold/1')).toBeUndefined();
    }));

  it('[T55] pruning deletes later checkpoints that depend on deltas, and a checkpoint begun before the pruning is not stored', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      await commitOne(store, append('sesn_1', fence, ['a', 'b', 'c', 'd', 'e']));
      const { checkpoints } = store;
      const epoch = await checkpoints.epoch('sesn_1');
      for (const seq of [1, 3, 5]) {
        await checkpoints.put({ ...checkpoint(seq, 'deltas/1'), epoch });
        await checkpoints.put({ ...checkpoint(seq, 'events/1'), epoch, dependsOnDeltas: false });
      }
      await store.prune('sesn_1', []);
      expect(await checkpoints.epoch('sesn_1')).toBe(epoch);
      await store.prune('sesn_1', [{ firstSeq: 2, lastSeq: 2 }]);
      expect([await seqOf(checkpoints, 9, 'deltas/1'), await seqOf(checkpoints, 9, 'events/1')]).toEqual([1, 5]);
      await checkpoints.put({ ...checkpoint(4, 'deltas/1'), epoch });
      expect(await seqOf(checkpoints, 9, 'deltas/1')).toBe(1);
      await checkpoints.put({ ...checkpoint(4, 'deltas/1'), epoch: await checkpoints.epoch('sesn_1') });
      expect(await seqOf(checkpoints, 9, 'deltas/1')).toBe(4);
    }));

  it('[T56] a deleted session with a long log disappears at once, and its id can be used again', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const many = Array.from({ length: 5_001 }, () => encoded);
      await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: many, changes: [] });
      await commitOne(store, write('sesn_1', fence, [started('req_1', 1)]));
      await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
      expect(await isGone(store)).toBe(true);
      const again = await owned(store, 'sesn_1');
      await commitOne(store, append('sesn_1', again, ['new']));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 new']);
    }));
}

const event = (text: string) => sampleFrame(text);
const delta = (text: string) => sampleFrame(text, { type: 'delta.text' });
const started = (run: string, time: number) => sampleFrame('', { type: 'run.started', time, turn: toTurn(run) });
const ended = (run: string, time: number) => sampleFrame('', { type: 'run.ended', time, turn: toTurn(run) });
const encoded = encodeFrame(sampleFrame('x'));

function toTurn(run: string) {
  return { streamId: 0, depth: 0, run };
}

function write(sessionId: string, fence: number, given: readonly NewFrame[]): Write {
  return { type: 'append', sessionId, fence, frames: given.map((frame) => encodeFrame(frame)), changes: [] };
}

function place(id: string, firstSeq: number, lastSeq: number | null, startedAt: number, endedAt: number | null) {
  return { sessionId: 'sesn_1', id, firstSeq, lastSeq, startedAt, endedAt };
}

function checkpoint(seq: number, kind: string): NewCheckpoint {
  const data = Buffer.from(`fold up to ${seq}`.slice(0, 11));
  return { sessionId: 'sesn_1', kind, seq, data, epoch: 0, dependsOnDeltas: true, replacesOlder: false };
}

async function seqOf(checkpoints: Checkpoints, upTo: number, kind: string): Promise<number | undefined> {
  return (await checkpoints.find({ sessionId: 'sesn_1', kind, upTo }))?.seq;
}

async function isGone(store: Store): Promise<boolean> {
  const found = [
    (await store.heads(['sesn_1'])).size,
    (await store.sessions.list({ workspaceId: 'w1', limit: 9, createdFrom: start })).items.length,
    (await store.runs.list({ workspaceId: 'w1', isOpen: true, limit: 9 })).items.length,
    (await store.leases.findOrphans(9)).length,
  ];
  return found.every((count) => count === 0);
}
