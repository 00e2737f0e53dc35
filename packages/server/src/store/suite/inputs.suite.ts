import { expect, it } from 'vitest';
import { storeLimits } from '../limits.ts';
import { commitOne, type SubmitChange } from '../write.ts';
import { encodeFrame } from '../frame.ts';
import {
  append,
  type CreateStore,
  codeOf,
  create,
  enqueue,
  owned,
  sampleFrame,
  start,
  withStore,
} from './samples.suite.ts';

export function inputsSuite(createStore: CreateStore): void {
  it('[T10] inputs wait in the order of their arrival until an append consumes them', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [enqueue('z'), enqueue('a')] });
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [enqueue('m')] });
      const ids = async (limit = 9) => (await store.inputs.peek('sesn_1', limit)).map(({ id }) => id);
      expect(await ids()).toEqual(['z', 'a', 'm']);
      expect(await ids(2)).toEqual(['z', 'a']);
      const [first] = await store.inputs.peek('sesn_1', 1);
      expect(first).toEqual({ ...enqueue('z').input, sessionId: 'sesn_1', position: first!.position });
      await commitOne(store, append('sesn_1', fence, ['took a'], [{ type: 'consume_inputs', inputIds: ['a', 'm'] }]));
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [enqueue('a')] });
      expect(await ids()).toEqual(['z', 'a']);
      const again = append('sesn_1', fence, ['again'], [{ type: 'consume_inputs', inputIds: ['m'] }]);
      expect(await codeOf(commitOne(store, again))).toBe('not_found');
    }));

  it('[T60] inputs are taken up to the one that reaches 1 MiB, and the newest is found without reading them', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      expect(await store.inputs.lastPosition('sesn_1')).toBeUndefined();
      const long = (id: string, chars: number): SubmitChange => {
        const { input } = enqueue(id);
        return { type: 'enqueue_input', input: { ...input, data: { text: 'x'.repeat(chars) } } };
      };
      const around = JSON.stringify({ text: '' }).length;
      const half = storeLimits.inputsTakenBytesMax / 2 - around;
      const changes = [long('a', half), long('b', half), long('c', 1), long('d', 3 * half), long('e', 1)];
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes });
      const ids = async (limit = 9) => (await store.inputs.peek('sesn_1', limit)).map(({ id }) => id);
      expect(await ids()).toEqual(['a', 'b']);
      expect(await ids(1)).toEqual(['a']);
      await commitOne(store, append('sesn_1', fence, ['took'], [{ type: 'consume_inputs', inputIds: ['a', 'b'] }]));
      const first = await store.inputs.peek('sesn_1', 9);
      expect(first.map(({ id }) => id)).toEqual(['c', 'd']);
      expect(await store.inputs.lastPosition('sesn_1')).toBeGreaterThan(first.at(-1)!.position);
    }));

  it('[X40] the sizes of a log, without deltas, and of the pending inputs are known without reading them', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      expect(await store.inputs.bytes('sesn_1')).toBe(0);
      expect(await store.logBytes('sesn_none', 0)).toBe(0);
      const before = await store.logBytes('sesn_1', 0);
      await commitOne(store, append('sesn_1', fence, ['x'.repeat(300_000)]));
      await commitOne(store, append('sesn_1', fence, ['y'.repeat(200_000)]));
      const head = (await store.heads(['sesn_1'])).get('sesn_1')!;
      expect((await store.logBytes('sesn_1', 0)) - before).toBeGreaterThan(500_000);
      expect((await store.logBytes('sesn_1', 0)) - before).toBeLessThan(502_000);
      expect(await store.logBytes('sesn_1', head - 1)).toBeGreaterThan(200_000);
      expect(await store.logBytes('sesn_1', head - 1)).toBeLessThan(202_000);
      expect(await store.logBytes('sesn_1', head)).toBe(0);
      const delta = encodeFrame(sampleFrame('z'.repeat(100_000), { type: 'delta.text' }));
      await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: [delta], changes: [] });
      expect(await store.logBytes('sesn_1', head)).toBe(0);
      const changes = [enqueue('a'), enqueue('b')];
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes });
      const sizes = changes.map(({ input }) => JSON.stringify(input.data).length);
      expect(await store.inputs.bytes('sesn_1')).toBe(sizes[0]! + sizes[1]!);
    }));

  it('[T10] a session that is full, archived or not there takes no input, and one that is refused refuses all', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const submit = (...ids: string[]) =>
        codeOf(commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: ids.map(enqueue) }));
      const many = Array.from({ length: storeLimits.pendingInputsMax }, (_, index) => `sevt_${index}`);
      expect(await submit(...many, 'one more')).toBe('too_many_inputs');
      expect(await store.inputs.peek('sesn_1', 1)).toEqual([]);
      expect(await submit(...many)).toBe('ok');
      expect(await submit('one more')).toBe('too_many_inputs');
      const consume = { type: 'consume_inputs', inputIds: [many[0]!] } as const;
      const archive = { type: 'update_session', updatedAt: start, patch: { archivedAt: start } } as const;
      await commitOne(store, append('sesn_1', fence, [], [consume]));
      expect(await submit('one more')).toBe('ok');
      await commitOne(store, append('sesn_1', fence, [], [consume, archive].slice(1)));
      expect(await submit('late')).toBe('archived');
      expect(await codeOf(commitOne(store, { type: 'submit', sessionId: 'sesn_9', changes: [] }))).toBe('not_found');
    }));

  it('[T11] an approval is answered once, by the first decision, in one commit with the other inputs', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const approval = (id: string) => ({ id, threadId: 'sthr_1', createdAt: start, data: { tool: id } });
      const asks = ['ask_1', 'ask_2'].map((id) => ({ type: 'create_approval' as const, approval: approval(id) }));
      await commitOne(store, append('sesn_1', fence, ['asks'], asks));
      const answer = (id: string, by: string): SubmitChange[] => [
        { type: 'resolve_approval', approvalId: id, time: start + 1, data: { by } },
        enqueue(`answer ${by}`),
      ];
      const answers = await Promise.all(
        ['x', 'y'].map((by) =>
          codeOf(commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: answer('ask_1', by) })),
        ),
      );
      expect(answers.sort()).toEqual(['already_resolved', 'ok']);
      expect(await store.inputs.peek('sesn_1', 9)).toHaveLength(1);
      const resolved = await store.approvals.get('sesn_1', 'ask_1');
      expect(resolved).toMatchObject({ ...approval('ask_1'), workspaceId: 'w1', resolution: { time: start + 1 } });
      const list = async (request: object) =>
        (await store.approvals.list({ workspaceId: 'w1', limit: 9, order: 'asc', ...request })).items.map(
          ({ id }) => id,
        );
      expect(await list({})).toEqual(['ask_1', 'ask_2']);
      expect(await list({ isPending: true })).toEqual(['ask_2']);
      expect(await list({ isPending: false, sessionId: 'sesn_1' })).toEqual(['ask_1']);
      expect(await list({ sessionId: 'sesn_2' })).toEqual([]);
      expect(await list({ workspaceId: 'w2' })).toEqual([]);
    }));

  it('[T11] the session withdraws an unanswered approval, and keeps an answer that came first', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      const approval = (id: string) => ({ id, threadId: 'sthr_1', createdAt: start, data: { tool: id } });
      const asks = ['ask_1', 'ask_2'].map((id) => ({ type: 'create_approval' as const, approval: approval(id) }));
      await commitOne(store, append('sesn_1', fence, ['asks'], asks));
      const answer: SubmitChange = {
        type: 'resolve_approval',
        approvalId: 'ask_1',
        time: start + 1,
        data: { by: 'x' },
      };
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [answer] });
      const close = (approvalId: string) =>
        ({ type: 'close_approval', approvalId, time: start + 2, data: {} }) as const;
      await commitOne(store, append('sesn_1', fence, ['closed'], [close('ask_1'), close('ask_2')]));
      const resolutionOf = async (id: string) => (await store.approvals.get('sesn_1', id))?.resolution;
      expect(await resolutionOf('ask_1')).toEqual({ time: start + 1, data: { by: 'x' } });
      expect(await resolutionOf('ask_2')).toEqual({ time: start + 2, data: {} });
      expect(await codeOf(commitOne(store, append('sesn_1', fence, [], [close('ask_3')])))).toBe('not_found');
    }));

  it('[T12] a key is taken once until it expires, and every caller gets the first result', () =>
    withStore(createStore, async ({ store, clock }) => {
      const put = (result: object) =>
        store.keys.putIfAbsent({ workspaceId: 'w1', key: 'k', expiresAt: start + 1_000, result });
      expect(await put({ n: 1 })).toMatchObject({ isNew: true, record: { result: { n: 1 } } });
      expect(await put({ n: 2 })).toMatchObject({ isNew: false, record: { result: { n: 1 } } });
      expect(await store.keys.get('w2', 'k')).toBeUndefined();
      clock.advance(999);
      expect(await store.keys.get('w1', 'k')).toEqual({
        workspaceId: 'w1',
        key: 'k',
        expiresAt: start + 1_000,
        result: { n: 1 },
      });
      clock.advance(1);
      expect(await store.keys.get('w1', 'k')).toBeUndefined();
      const later = { workspaceId: 'w1', key: 'k', expiresAt: start + 5_000, result: { n: 3 } };
      expect(await store.keys.putIfAbsent(later)).toMatchObject({ isNew: true, record: { result: { n: 3 } } });
    }));

  it('[T12] a submission under a taken key is refused as a whole', () =>
    withStore(createStore, async ({ store, clock }) => {
      await commitOne(store, create('sesn_1'));
      const key = { key: 'k', expiresAt: start + 1_000, result: { id: 'sevt_1' } };
      const send = (id: string) =>
        codeOf(
          commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [enqueue(id), { type: 'put_key', key }] }),
        );
      expect([await send('sevt_1'), await send('sevt_2')]).toEqual(['ok', 'key_taken']);
      expect((await store.inputs.peek('sesn_1', 9)).map(({ id }) => id)).toEqual(['sevt_1']);
      expect((await store.keys.get('w1', 'k'))?.result).toEqual({ id: 'sevt_1' });
      clock.advance(1_000);
      key.expiresAt += 1_000;
      expect(await send('sevt_2')).toBe('ok');
    }));

  it('[Q29] a key that replaces another is stored at once, and its result is valid from then on', () =>
    withStore(createStore, async ({ store }) => {
      await commitOne(store, create('sesn_1'));
      const send = (id: string) => {
        const key = { key: 'k', expiresAt: start + 1_000, result: { id }, replaces: true };
        return codeOf(
          commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [enqueue(id), { type: 'put_key', key }] }),
        );
      };
      expect([await send('sevt_1'), await send('sevt_2')]).toEqual(['ok', 'ok']);
      expect(await store.keys.get('w1', 'k')).toEqual({
        workspaceId: 'w1',
        key: 'k',
        expiresAt: start + 1_000,
        result: { id: 'sevt_2' },
      });
      const put = { workspaceId: 'w1', key: 'k', expiresAt: start + 2_000, result: { n: 3 } };
      expect(await store.keys.putIfAbsent({ ...put, replaces: true })).toEqual({ isNew: true, record: put });
      expect(await store.keys.putIfAbsent({ ...put, result: { n: 4 } })).toEqual({ isNew: false, record: put });
    }));
}
