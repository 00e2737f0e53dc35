import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../base/json/json.ts';
import { requestError } from '../../base/request-error.ts';
import type { Changes, SessionAt } from './changes.ts';
import { answerChanges, createNodeChanges } from './node-changes.ts';

const HERE = { workspaceId: 'w', sessionId: 'sesn_here' };
const THERE = { workspaceId: 'w', sessionId: 'sesn_there' };

it('[WS115] a request about changes is answered by the node that has the workspace, and an error names a node that does not answer', async () => {
  const here = createFake('here');
  const there = createFake('there');
  const blobs = createBlobs();
  let isUp = true;
  const answer = answerChanges(there.changes, blobs, async () => ({ other: true }));
  const nodes = createNodeChanges({
    local: here.changes,
    findOther: async (sessionId) => (sessionId === THERE.sessionId ? 'node_2' : undefined),
    ask: async (_, question) =>
      isUp ? { answer: toWire(await answer(toWire(question), 'q1')), done: async () => {} } : undefined,
    blobs,
  });
  expect(await nodes.list(HERE, {})).toEqual({ from: 'here', session: HERE, request: {} });
  expect(await nodes.list(THERE, { from: 3, threadId: 't' })).toEqual({
    from: 'there',
    session: THERE,
    request: { from: 3, threadId: 't' },
  });
  const request = { by: 'key', title: null, onto: { type: 'branch', branch: 'b' }, isDryRun: false } as const;
  expect(await nodes.apply(THERE, request)).toEqual({ from: 'there', session: THERE, request });
  expect(here.calls).toEqual(['list']);
  // Content goes through the store, and is removed from it.
  const { content, ...rest } = await nodes.content(THERE, { path: 'a' });
  expect([content, rest]).toEqual([Buffer.from([0, 255]), { path: 'a', mode: '100644', cursor: '1' }]);
  expect(blobs.size()).toBe(0);
  await expect(nodes.discard(THERE, { by: 'key', isDryRun: false })).rejects.toMatchObject({
    code: 'apply_conflict',
    kind: 'caller',
    details: { files: ['x'] },
    message: expect.stringMatching(/^it conflicts: commit/),
  });
  expect(await answer({ type: 'list' }, 'q2')).toEqual({ other: true });
  isUp = false;
  await expect(nodes.restore(THERE, { by: 'key', at: 1, isDryRun: true, overwrites: false })).rejects.toMatchObject({
    code: 'shutting_down',
    message: expect.stringContaining('the node node_2, which has the workspace of sesn_there, does not answer'),
  });
});

function createFake(from: string) {
  const calls: string[] = [];
  const reply = (name: string) => async (session: SessionAt, request: object) => {
    calls.push(name);
    return { from, session, request } as never;
  };
  const changes: Changes = {
    list: reply('list'),
    steps: reply('steps'),
    diff: reply('diff'),
    diffs: reply('diffs'),
    tree: reply('tree'),
    apply: reply('apply'),
    restore: reply('restore'),
    merge: reply('merge'),
    content: async (_, { path }) => ({ path, mode: '100644', cursor: '1', content: Buffer.from([0, 255]) }),
    discard: async () => {
      throw requestError('apply_conflict', 'it conflicts', { details: { files: ['x'] } });
    },
  };
  return { changes, calls };
}

function createBlobs() {
  const stored = new Map<string, Buffer>();
  return {
    size: () => stored.size,
    write: async (id: string, content: AsyncIterable<Uint8Array>) => {
      stored.set(id, await buffer(Readable.from(content)));
      return { bytes: stored.get(id)!.length };
    },
    read: async function* (id: string) {
      yield stored.get(id)!;
    },
    delete: async (id: string) => void stored.delete(id),
  };
}

/** As the store passes it on. */
function toWire(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
