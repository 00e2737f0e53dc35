import * as fc from 'fast-check';
import { expect } from 'vitest';
import { createManualClock, type ManualClock } from '../../base/clock.ts';
import { createMemoryStore } from '../memory/memory-store.ts';
import type { Store } from '../store.ts';
import type { Change, Write } from '../write.ts';
import { append, enqueue, newSession, readAll, show, start } from './samples.suite.ts';

/** Gives the same random histories to the memory store and to another one, which is empty, and compares all answers. */
export async function compareHistories(open: (clock: ManualClock) => Promise<Store>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
    const clock = createManualClock(start);
    const stores = [createMemoryStore({ clock }), await open(clock)];
    const answers = stores.map((): unknown[] => []);
    for (const each of steps) {
      if (each.type === 'advance') clock.advance(each.ms);
      for (const [index, store] of stores.entries()) answers[index]!.push(await take(store, each));
    }
    for (const [index, store] of stores.entries()) {
      answers[index]!.push(await lookAt(store));
      await store.close();
    }
    expect(answers[1]).toEqual(answers[0]);
  });
  await fc.assert(property, { numRuns });
}

const id = fc.constantFrom('a', 'b', 'c');
const status = fc.constantFrom('idle', 'running', 'rescheduling', 'terminated');
const summary = fc.record({
  state: fc.constantFrom('needs_you', 'running', 'failed', 'done', 'idle', 'archived'),
  stallsAt: fc.option(fc.nat(9)),
  agentName: id,
  model: id,
  createdAt: fc.nat(9),
  activityAt: fc.nat(9),
  costNanoUsd: fc.option(fc.nat(9)),
  tokens: fc.nat(9),
  activeMs: fc.nat(9),
  search: fc.constantFrom('a b', 'B', 'ä', '😀 b'),
  data: fc.object(),
});
const change: fc.Arbitrary<Change> = fc.oneof(
  id.map(enqueue),
  fc.record({ type: fc.constant('consume_inputs'), inputIds: fc.array(id, { maxLength: 2 }) }),
  id.map((each): Change => ({ type: 'create_thread', thread: threadOf(each) })),
  fc.record({ type: fc.constant('update_thread'), threadId: id, updatedAt: fc.nat(9), patch: fc.record({ status }) }),
  fc.record({
    type: fc.constant('update_session'),
    updatedAt: fc.nat(9),
    patch: fc.record({ status, data: fc.object(), archivedAt: fc.constant(start) }, { requiredKeys: [] }),
  }),
  summary.map((each): Change => ({ type: 'put_summary', summary: each })),
  id.map(
    (each): Change => ({ type: 'create_approval', approval: { id: each, threadId: 't', createdAt: 1, data: {} } }),
  ),
  id.map((each): Change => ({ type: 'resolve_approval', approvalId: each, time: 2, data: { each } })),
  id.map((each): Change => ({ type: 'close_approval', approvalId: each, time: 3, data: { closed: each } })),
  id.map((each): Change => ({ type: 'enqueue_work', work: { id: each, createdAt: 4, data: { each } } })),
  fc.tuple(id, fc.boolean()).map(
    ([each, replaces]): Change => ({
      type: 'put_key',
      key: { key: each, expiresAt: start + 50, result: { each, replaces }, replaces },
    }),
  ),
);
const write = fc.record({
  type: fc.constantFrom('create', 'append', 'append', 'append', 'submit', 'delete'),
  sessionId: id,
  fence: fc.integer({ min: 0, max: 2 }),
  changes: fc.array(change, { maxLength: 3 }),
  texts: fc.array(fc.string(), { maxLength: 3 }),
});
const step = fc.oneof(
  fc.record({ type: fc.constant('commit' as const), writes: fc.array(write, { maxLength: 4 }) }),
  fc.record({
    type: fc.constant('acquire' as const),
    sessionId: id,
    owner: id,
    ttlMs: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({ type: fc.constant('release' as const), sessionId: id, fence: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ type: fc.constant('claim' as const), reclaimMs: fc.nat(20) }),
  fc.record({ type: fc.constant('advance' as const), ms: fc.nat(40) }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take(store: Store, each: Step): Promise<unknown> {
  switch (each.type) {
    case 'acquire':
      return store.leases.acquire(each).catch(String);
    case 'release':
      return store.leases.release(each);
    case 'claim':
      return store.works.claim({ workspaceId: 'w1', environmentId: 'env_1', reclaimMs: each.reclaimMs });
    case 'commit': {
      const outcomes = await store.commit(each.writes.map(toWrite));
      return outcomes.map((outcome) => (outcome.ok ? outcome : String(outcome.error)));
    }
    case 'advance':
      return undefined;
  }
}

async function lookAt(store: Store): Promise<unknown[]> {
  const seen: unknown[] = [
    await store.sessions.list({ workspaceId: 'w1', limit: 9, includeArchived: true }),
    await store.approvals.list({ workspaceId: 'w1', limit: 9 }),
    await store.works.list({ workspaceId: 'w1', environmentId: 'env_1', limit: 9 }),
    (await store.leases.findOrphans(9)).toSorted(),
    (await store.summaries.findMissing(9)).toSorted(),
    ...(await Promise.all(SORTS.map((sort) => lookAtSummaries(store, sort)))),
  ];
  for (const sessionId of ['a', 'b', 'c']) {
    seen.push(await store.threads.list({ sessionId, limit: 9 }), await store.keys.get('w1', sessionId));
    seen.push((await store.inputs.peek(sessionId, 9)).map((input) => input.id));
    seen.push(await readAll(store, sessionId).then(show, String));
  }
  return seen;
}

const SORTS = ['activity', 'created', 'cost', 'tokens', 'duration', 'name', 'agent', 'state'] as const;

async function lookAtSummaries(store: Store, sort: (typeof SORTS)[number]): Promise<unknown> {
  const request = { workspaceId: 'w1', now: 5, includesArchived: true, sort, order: 'desc', limit: 2 } as const;
  const first = await store.summaries.list(request);
  const rest = first.next === null ? null : await store.summaries.list({ ...request, cursor: first.next });
  const words = await store.summaries.list({ ...request, words: ['b'], states: ['stalled', 'done'], order: 'asc' });
  return [first, rest, words].map(
    (list) => list && { ...list, groups: list.groups.map((each) => JSON.stringify(each)).toSorted() },
  );
}

function toWrite({ type, sessionId, fence, changes, texts }: typeof write extends fc.Arbitrary<infer V> ? V : never) {
  const { frames } = append(sessionId, fence, texts) as Extract<Write, { type: 'append' }>;
  if (type === 'create') return { type, session: newSession(sessionId), frames, changes } as const;
  if (type === 'delete') return { type, sessionId, fence } as const;
  if (type === 'append') return { type, sessionId, fence, frames, changes } as const;
  const submitted = changes.filter(
    (each) =>
      each.type === 'enqueue_input' ||
      each.type === 'put_key' ||
      each.type === 'resolve_approval' ||
      each.type === 'enqueue_work',
  );
  return { type: 'submit', sessionId, changes: submitted } as const;
}

function threadOf(threadId: string) {
  return { id: threadId, parentThreadId: null, status: 'idle' as const, createdAt: 1, data: {} };
}
