import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { inBackground, reportAsWarning } from '../base/in-background.ts';
import { createManualClock } from '../base/clock.ts';
import { nodeLimits } from './limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { createHealthFinder } from '../sessions/index.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { owned } from '../store/suite/samples.suite.ts';
import { answerHealth, createHealthNodes, toOwner } from './node-health.ts';
import { createNodeMessages } from './node-messages.ts';

const thread: ThreadHealth = { id: 'sthr_1', since: '2026-01-01T00:00:00.000Z', doing: 'tool', tool: 'bash' };

function open() {
  const clock = createManualClock(1_000);
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const messagesOf = (nodeId: string) => createNodeMessages({ store, nodeId, schedule, onProblem: () => {} });
  const find = createHealthFinder({
    leases: store.leases,
    own: (sessionId) => (sessionId === 'sesn_own' ? [thread] : undefined),
    nodes: createHealthNodes('node_1', messagesOf('node_1')),
  });
  /** The store is in memory: what follows from the time needs turns, but no time. */
  const pass = async (ms: number) => {
    advance(ms);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { store, find, messagesOf, pass };
}

it('[W84] an owner that does not answer within the limit is named, and nothing is made up', async () => {
  const { store, find, pass } = open();
  await owned(store, 'sesn_1', toOwner('node_2', 'instance'));
  let found: unknown;
  inBackground(
    find('sesn_1').then((health) => (found = health)),
    reportAsWarning,
  );
  await pass(0);
  await pass(nodeLimits.healthWaitMs - 1);
  expect(found).toBeUndefined();
  await pass(1);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(found).toEqual({ isKnown: false, owner: { nodeId: 'node_2' }, threads: [] });
  // The request is removed when the asking node gives up.
  const { items } = await store.documents.list({ kind: 'node_question node_2', order: 'asc', limit: 9 });
  expect(items).toEqual([]);
});

it('[W84] the owner answers for its sessions but not for one that it has lost, and a session without an owner is known', async () => {
  const { store, find, messagesOf, pass } = open();
  const owner = toOwner('node_2', 'instance');
  for (const sessionId of ['sesn_1', 'sesn_lost']) await owned(store, sessionId, owner);
  const others: unknown[] = [];
  const own = (sessionId: string) => (sessionId === 'sesn_1' ? [thread] : undefined);
  messagesOf('node_2').start(answerHealth(own, async (question) => (others.push(question), {})));
  const asked = ['sesn_1', 'sesn_lost', 'sesn_own', 'sesn_nobody'].map((sessionId) => find(sessionId));
  await pass(0);
  await pass(nodeLimits.nodeMessagePollMs);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(await Promise.all(asked)).toEqual([
    { isKnown: true, owner: { nodeId: 'node_2' }, threads: [thread] },
    { isKnown: false, owner: { nodeId: 'node_2' }, threads: [] },
    { isKnown: true, owner: { nodeId: 'node_1' }, threads: [thread] },
    { isKnown: true, owner: null, threads: [] },
  ]);
  // Other questions go where they went before.
  inBackground(messagesOf('node_1').ask('node_2', { type: 'list' }), reportAsWarning);
  await pass(0);
  await pass(nodeLimits.nodeMessagePollMs);
  expect(others).toEqual([{ type: 'list' }]);
  // Without other nodes only the lease of another process is known.
  const alone = createHealthFinder({ leases: store.leases, own: () => undefined });
  expect(await alone('sesn_1')).toEqual({ isKnown: false, owner: { nodeId: null }, threads: [] });
});
