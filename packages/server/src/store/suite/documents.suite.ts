import { expect, it } from 'vitest';
import { storeLimits } from '../limits.ts';
import type { Store } from '../store.ts';
import { commitOne, type Write } from '../write.ts';
import { type CreateStore, codeOf, create, enqueue, start, withStore } from './samples.suite.ts';

export function documentsSuite(createStore: CreateStore): void {
  it('[T29] a document is changed at a known revision, and of concurrent creations one succeeds', () =>
    withStore(createStore, async ({ store, clock }) => {
      const { documents } = store;
      const place = { kind: 'key', id: 'a' };
      const make = (by: string) => codeOf(documents.put({ ...place, data: { by }, ifRevision: 0 }));
      const made = await Promise.all(['x', 'y', 'z'].map(make));
      expect(made.toSorted()).toEqual(['ok', 'version_conflict', 'version_conflict']);
      expect(await documents.get('key', 'a')).toMatchObject({ ...place, revision: 1, updatedAt: start });
      clock.advance(5);
      const data = { z: 1, a: 'ü\u0000', list: [{}] };
      const second = { ...place, revision: 2, data, updatedAt: start + 5 };
      expect(await documents.put({ ...place, data, ifRevision: 1 })).toEqual(second);
      expect(await codeOf(documents.put({ ...place, data: {}, ifRevision: 1 }))).toBe('version_conflict');
      expect(await codeOf(documents.put({ ...place, id: 'b', data: {}, ifRevision: 1 }))).toBe('version_conflict');
      expect(await documents.get('key', 'a')).toEqual(second);
      expect(Object.keys((await documents.get('key', 'a'))!.data)).toEqual(['z', 'a', 'list']);
      const changes = await Promise.all(['x', 'y'].map((by) => documents.put({ ...place, data: { by } })));
      expect(new Set(changes.map(({ revision }) => revision))).toEqual(new Set([3, 4]));
      await documents.delete('key', 'a');
      await documents.delete('key', 'a');
      expect(await documents.get('key', 'a')).toBeUndefined();
      expect(await documents.put({ ...place, data: {} })).toMatchObject({ revision: 1 });
    }));

  it('[H190] a submit that expects a revision of a document is refused at any other, and leaves nothing', () =>
    withStore(createStore, async ({ store }) => {
      await commitOne(store, create('sesn_1'));
      const { revision } = await store.documents.put({ kind: 'rules', id: 'w', data: {} });
      const submit = (n: number, id: string, expected: number): Write => {
        const document = { type: 'expect_document' as const, kind: 'rules', id, revision: expected };
        return { type: 'submit', sessionId: 'sesn_1', changes: [document, enqueue(`sevt_${n}`)] };
      };
      const outcomes = await store.commit([
        submit(1, 'w', 1),
        submit(2, 'w', 2),
        submit(3, 'none', 1),
        submit(4, 'w', 1),
      ]);
      expect([revision, outcomes.map(({ ok }) => ok)]).toEqual([1, [true, false, false, true]]);
      await store.documents.put({ kind: 'rules', id: 'w', data: {} });
      expect(await codeOf(commitOne(store, submit(5, 'w', 1)))).toBe('version_conflict');
      await store.documents.delete('rules', 'w');
      expect(await codeOf(commitOne(store, submit(6, 'w', 2)))).toBe('version_conflict');
      expect((await store.inputs.peek('sesn_1', 9)).map(({ id }) => id)).toEqual(['sevt_1', 'sevt_4']);
    }));

  it('[T29] documents are listed by their kind, in pages that lead on', () =>
    withStore(createStore, async ({ store: { documents } }) => {
      for (const id of ['b', 'a', 'B', 'c']) await documents.put({ kind: 'file', id, data: { id } });
      await documents.put({ kind: 'files', id: 'd', data: {} });
      const idsOf = async (request: { cursor?: string; order?: 'asc' }) => {
        const page = await documents.list({ kind: 'file', limit: 3, ...request });
        return { ...page, ids: page.items.map(({ id }) => id) };
      };
      const first = await idsOf({});
      expect([first.ids, first.previous]).toEqual([['c', 'b', 'a'], null]);
      const second = await idsOf({ cursor: first.next! });
      expect([second.ids, second.next]).toEqual([['B'], null]);
      expect((await idsOf({ cursor: second.previous! })).ids).toEqual(['c', 'b', 'a']);
      expect((await idsOf({ order: 'asc' })).ids).toEqual(['B', 'a', 'b']);
      const other = documents.list({ kind: 'files', limit: 3, cursor: first.next! });
      expect(await codeOf(other)).toBe('invalid_cursor');
      expect((await documents.list({ kind: 'none', limit: 3 })).items).toEqual([]);
    }));

  it('[P74] documents are found by many ids at once, each once, and missing ones are left out', () =>
    withStore(createStore, async ({ store: { documents } }) => {
      for (const id of ['a', 'b ü', 'c']) await documents.put({ kind: 'file', id, data: { id } });
      await documents.put({ kind: 'other', id: 'd', data: {} });
      const found = await documents.getAll('file', ['c', 'none', 'b ü', 'c', 'd']);
      expect(found.map(({ id }) => id).toSorted()).toEqual(['b ü', 'c']);
      expect(found.find(({ id }) => id === 'c')).toEqual(await documents.get('file', 'c'));
      expect(await documents.getAll('file', [])).toEqual([]);
    }));

  it('[H163] the documents of a workspace are listed between two ids in either order, and counted up to a number', () =>
    withStore(createStore, async ({ store: { documents } }) => {
      for (const id of ['b', 'a', 'B', 'c', 'd']) {
        await documents.put({ kind: 'file', id, data: { workspaceId: id === 'c' ? 'w2' : 'w1' } });
      }
      await documents.put({ kind: 'login', id: 'x', data: { workspaceId: 'w1' } });
      await documents.put({ kind: 'file', id: 'e', data: { id: 'none' } });
      const of = { kind: 'file', workspaceId: 'w1', limit: 10 } as const;
      const idsOf = async (bounds: object) =>
        (await documents.listOfWorkspace({ ...of, ...bounds })).map(({ id }) => id).join('');
      expect([await idsOf({}), await idsOf({ limit: 2 }), await idsOf({ order: 'asc' })]).toEqual([
        'dbaB',
        'db',
        'Babd',
      ]);
      expect([await idsOf({ below: 'd' }), await idsOf({ below: 'c', above: 'B' })]).toEqual(['baB', 'ba']);
      expect(await idsOf({ order: 'asc', above: 'a', limit: 1 })).toBe('b');
      expect(await documents.listOfWorkspace({ ...of, limit: 1 })).toEqual([await documents.get('file', 'd')]);
      const counts = [3, 4, 5].map((max) => documents.countOfWorkspace({ kind: 'file', workspaceId: 'w1', max }));
      expect(await Promise.all(counts)).toEqual([3, 4, 4]);
      await documents.put({ kind: 'file', id: 'd', data: { workspaceId: 'w2' } });
      await documents.delete('file', 'b');
      expect([await idsOf({}), await idsOf({ workspaceId: 'w2' })]).toEqual(['aB', 'dc']);
    }));

  it('[VT1] several changes of documents are one commit, and one that comes too late refuses them all', () =>
    withStore(createStore, async ({ store: { documents } }) => {
      const put = (id: string, by: string, ifRevision?: number) =>
        ({ type: 'put', kind: 'k', id, data: { by }, ...(ifRevision === undefined ? {} : { ifRevision }) }) as const;
      const remove = (id: string, ifRevision?: number) =>
        ({ type: 'delete', kind: 'k', id, ...(ifRevision === undefined ? {} : { ifRevision }) }) as const;
      const all = async () =>
        (await documents.list({ kind: 'k', limit: 9, order: 'asc' })).items.map((each) => [
          each.id,
          each.revision,
          each.data['by'],
        ]);
      await documents.change([put('a', 'x', 0), put('b', 'x'), remove('none')]);
      expect(await all()).toEqual([
        ['a', 1, 'x'],
        ['b', 1, 'x'],
      ]);
      await documents.change([put('a', 'y', 1), remove('b', 1), put('c', 'y', 0)]);
      const after = [
        ['a', 2, 'y'],
        ['c', 1, 'y'],
      ];
      expect(await all()).toEqual(after);
      for (const late of [put('c', 'z', 0), put('c', 'z', 2), remove('c', 2), remove('none', 1), put('none', 'z', 1)]) {
        const refused = documents.change([put('a', 'z'), put('d', 'z', 0), remove('c'), late].filter(isOnce));
        expect(await codeOf(refused)).toBe('version_conflict');
      }
      expect(await all()).toEqual(after);
      const racing = ['x', 'y', 'z'].map((by) => codeOf(documents.change([put('a', by, 2), put(by, by, 0)])));
      expect((await Promise.all(racing)).toSorted()).toEqual(['ok', 'version_conflict', 'version_conflict']);
      expect(await all()).toHaveLength(3);
      await documents.change([]);
    }));

  it('[VT1] vaults are listed by their workspace, and credentials by their vault', () =>
    withStore(createStore, async ({ store: { documents } }) => {
      const both = { workspaceId: 'w1', vaultId: 'vlt_1' };
      await documents.put({ kind: 'vault', id: 'vlt_1', data: both });
      await documents.put({ kind: 'vault', id: 'vlt_2', data: { ...both, workspaceId: 'w2' } });
      await documents.put({ kind: 'vault_credential', id: 'vcrd_1', data: both });
      await documents.put({ kind: 'vault_credential', id: 'vcrd_2', data: { ...both, vaultId: 'vlt_2' } });
      const idsOf = async (kind: 'vault' | 'vault_credential', workspaceId: string) =>
        (await documents.listOfWorkspace({ kind, workspaceId, limit: 9 })).map(({ id }) => id);
      expect(await idsOf('vault', 'w1')).toEqual(['vlt_1']);
      expect([await idsOf('vault_credential', 'vlt_1'), await idsOf('vault_credential', 'w1')]).toEqual([
        ['vcrd_1'],
        [],
      ]);
    }));

  it('[T29] the store has a clock', () =>
    withStore(createStore, async ({ store, clock }) => {
      clock.advance(7);
      expect(await store.now()).toBe(start + 7);
      await store.close();
      expect(await codeOf(store.now())).toBe('closed');
    }));

  it('[T30] a blob is returned byte for byte, in parts of one size, and is replaced as a whole', () =>
    withStore(createStore, async ({ store }) => {
      const bytes = Buffer.alloc(2 * storeLimits.blobPartBytes + 1, 'abc\0ü\n');
      const pieces = [bytes.subarray(0, 3), bytes.subarray(3, 3), bytes.subarray(3, storeLimits.blobPartBytes + 9)];
      pieces.push(bytes.subarray(storeLimits.blobPartBytes + 9));
      expect(await store.blobs.write('a', iterate(pieces))).toEqual({ bytes: bytes.length });
      const parts = await read(store, 'a');
      expect(parts.map(({ length }) => length)).toEqual([storeLimits.blobPartBytes, storeLimits.blobPartBytes, 1]);
      expect(Buffer.concat(parts).equals(bytes)).toBe(true);
      expect(await store.blobs.write('empty', iterate([]))).toEqual({ bytes: 0 });
      expect(await read(store, 'empty')).toEqual([]);
      await store.blobs.write('a', iterate([Buffer.from('other')]));
      expect(Buffer.concat(await read(store, 'a')).toString()).toBe('other');
    }));

  it('[T30] an incomplete blob is not visible, a failed write leaves the previous blob, a deleted blob is gone', () =>
    withStore(createStore, async ({ store }) => {
      let go = () => {};
      const gate = new Promise<void>((resolve) => (go = resolve));
      const large = Buffer.alloc(storeLimits.blobPartBytes, 'x');
      const writing = store.blobs.write(
        'a',
        iterate([large, large], () => gate),
      );
      expect(await codeOf(read(store, 'a'))).toBe('not_found');
      go();
      await writing;
      const broken = () => Promise.reject(new Error('the sender has gone'));
      await expect(store.blobs.write('a', iterate([large, Buffer.from('y')], broken))).rejects.toThrow('has gone');
      const reading = store.blobs.read('a')[Symbol.asyncIterator]();
      expect(large.equals((await reading.next()).value as Uint8Array)).toBe(true);
      await store.blobs.delete('a');
      await store.blobs.delete('a');
      expect(await codeOf(reading.next())).toBe('not_found');
      expect(await codeOf(read(store, 'a'))).toBe('not_found');
      await store.close();
      expect(await codeOf(read(store, 'a'))).toBe('closed');
      expect(await codeOf(store.blobs.write('b', iterate([])))).toBe('closed');
    }));
}

/** The first piece at once, the others when `then` lets them. */
async function* iterate(pieces: readonly Uint8Array[], then: () => Promise<void> = async () => {}) {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await then();
    yield piece;
  }
}

async function read(store: Store, id: string): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = [];
  for await (const part of store.blobs.read(id)) parts.push(part);
  return parts;
}

/** A document may be in one list of changes only once: the last one of each id, which is the one under test. */
function isOnce({ id }: { id: string }, index: number, all: readonly { id: string }[]): boolean {
  return all.findLastIndex((each) => each.id === id) === index;
}
