import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { nodeLimits } from './limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { systemSchedule } from '../base/schedule.ts';
import { createLog } from '../log/log.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { append, owned } from '../store/suite/samples.suite.ts';
import { commitOne } from '../store/write.ts';
import { createStoredWorkspaceLocations, type StoredWorkspaceLocations } from './stored-workspace-locations.ts';
import { sessionLimits } from '../sessions/core/limits.ts';
import { openNodeId } from './node-id.ts';
import { createNodeMessages } from './node-messages.ts';
import { createNodeRegistry, type NodeRegistryOptions } from './node-registry.ts';
import { sweep } from './sweep.ts';

function open() {
  const clock = createManualClock(1_000_000);
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const problems: unknown[] = [];
  const openNode = (nodeId: string, on = store, instances: Partial<NodeRegistryOptions> = {}) =>
    createNodeRegistry({
      store: on,
      nodeId,
      instance: `${nodeId} ${Math.random()}`,
      ...instances,
      clock,
      schedule,
      onProblem: (problem) => problems.push(problem),
    });
  /** Advances the time, so that every node writes its heartbeats. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += nodeLimits.nodeBeatMs) {
      advance(Math.min(nodeLimits.nodeBeatMs, ms - passed));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  return { clock, store, problems, openNode, pass, advance };
}

it('[P57] a node keeps its name across restarts, and nodes know how many they are and which one is the leader', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-node-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const name = await openNodeId(directory);
  expect(await openNodeId(directory)).toBe(name);
  await writeFile(join(directory, 'node-id'), 'node_mine\n');
  expect(await openNodeId(directory)).toBe('node_mine');

  const { openNode, pass, problems } = open();
  const [a, b] = [openNode('node_a'), openNode('node_b')];
  await a.start();
  await b.start();
  await pass(nodeLimits.nodeBeatMs);
  expect([a.count(), b.count(), a.isLeader(), b.isLeader()]).toEqual([2, 2, true, false]);
  await a.close();
  await pass(nodeLimits.nodeBeatMs);
  expect([b.count(), b.isLeader(), a.isLeader()]).toEqual([1, true, false]);
  expect(problems).toEqual([]);
  // As after it was frozen for longer than a lease: the other process has started in the meantime.
  await openNode('node_b').start();
  await pass(2 * nodeLimits.nodeBeatMs);
  expect(String(problems[0])).toContain('a data directory of its own');
});

it('[P111] a node whose id a live process has is rejected, and takes over the id of a dead process at once if that held its data directory, otherwise when a lease has expired', async () => {
  const { openNode, pass } = open();
  const first = openNode('node_a', undefined, { instance: 'first' });
  await first.checkUnused();
  await first.start();
  const rejected = expect(openNode('node_a').checkUnused()).rejects.toThrow(/node id node_a.*remove the file node-id/);
  await pass(2 * nodeLimits.nodeBeatMs);
  await rejected;

  // Both looked before either was registered.
  const both = [openNode('node_b'), openNode('node_b')];
  for (const node of both) await node.checkUnused();
  await both[0]!.start();
  await expect(both[1]!.start()).rejects.toMatchObject({ code: 'node_in_use' });
  await both[0]!.close();
  await openNode('node_b').checkUnused();

  // Its heartbeats end without a farewell, as after SIGKILL.
  const dead = open();
  await dead.openNode('node_c', undefined, { instance: 'killed' }).start();
  await dead.openNode('node_c', undefined, { endedInstances: ['killed'] }).checkUnused();
  const other = open();
  await other.store.documents.put({ kind: 'node', id: 'node_d', data: { instance: 'elsewhere' } });
  const startedAt = other.clock.now();
  const wait = { isOver: false };
  const waiting = other.openNode('node_d').checkUnused();
  const ended = waiting.then(() => (wait.isOver = true));
  while (!wait.isOver && other.clock.now() - startedAt < 2 * nodeLimits.nodeClaimMs) {
    other.advance(nodeLimits.nodeClaimPollMs);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await ended;
  expect(other.clock.now() - startedAt).toBeGreaterThanOrEqual(nodeLimits.nodeClaimMs);
  expect(other.clock.now() - startedAt).toBeLessThanOrEqual(nodeLimits.nodeClaimMs + nodeLimits.nodeClaimPollMs);
  expect(nodeLimits.nodeClaimMs).toBe(sessionLimits.sharedLeaseMs);
});

it('[P58] a workspace is elsewhere while its node lives or has just stopped, and lost after that; an outage of the database makes no workspace lost', async () => {
  const { clock, store, openNode, pass } = open();
  let isAway = false;
  const away = new Proxy(store, {
    get: (target, key) =>
      isAway && key === 'now' ? () => Promise.reject(new Error('away')) : Reflect.get(target, key),
  });
  const [a, b] = [openNode('node_a'), openNode('node_b', away)];
  await a.start();
  await b.start();
  const workspaces = { has: async () => false };
  const locations = {
    a: createStoredWorkspaceLocations({ store, nodes: a, workspaces }),
    b: createStoredWorkspaceLocations({ store, nodes: b, workspaces }),
  };
  expect(await locations.b.find('sesn_1')).toBe('none');
  await locations.a.settle('sesn_1', 'workspace');
  expect([await locations.a.find('sesn_1'), await locations.b.find('sesn_1')]).toEqual(['here', 'elsewhere']);
  expect([await locations.a.findOther('sesn_1'), await locations.b.findOther('sesn_1')]).toEqual([undefined, 'node_a']);
  await pass(2 * nodeLimits.homeGoneMs);
  expect(await locations.b.find('sesn_1')).toBe('elsewhere');
  await a.close();
  await pass(nodeLimits.homeGoneMs);
  expect(await locations.b.find('sesn_1')).toBe('elsewhere');
  isAway = true;
  await pass(nodeLimits.nodeBeatMs);
  isAway = false;
  expect(await locations.b.find('sesn_1')).toBe('elsewhere');
  await pass(nodeLimits.nodeAliveMs + 2 * nodeLimits.nodeBeatMs);
  expect(await locations.b.find('sesn_1')).toBe('lost');
  await locations.b.leave('sesn_1');
  expect(await locations.b.find('sesn_1')).toBe('none');
  await locations.b.settle('sesn_2', 'workspace');
  clock.advance(nodeLimits.homeGoneMs + 1);
  expect(await sweep(store, [{ kind: 'home', isOfSession: true }])).toBe(1);
});

it('[P57] a node that is gone is forgotten after the time limit, and not earlier', async () => {
  const { clock, store, openNode, advance } = open();
  const [a, b, c] = [openNode('node_a'), openNode('node_b'), openNode('node_c')];
  for (const node of [a, b, c]) await node.start();
  await b.close();
  clock.advance(1);
  await c.close();
  advance(nodeLimits.nodeForgottenMs);
  const known = async () => (await store.documents.list({ kind: 'node', limit: 10 })).items.map(({ id }) => id);
  await expect.poll(known, { interval: 1 }).not.toContain('node_b');
  expect((await known()).toSorted()).toEqual(['node_a', 'node_c']);
  expect([await a.silenceMs('node_b'), await a.silenceMs('node_c')]).toEqual([Infinity, nodeLimits.nodeForgottenMs]);
  await a.close();
});

it('[P58] the location of a session is written once, and again only after the node has evicted it from its cache', async () => {
  const { store, openNode } = open();
  let writes = 0;
  const put: typeof store.documents.put = async () => {
    writes += 1;
    return { kind: 'home', id: '', data: {}, revision: 1, createdAt: 0, updatedAt: 0 };
  };
  const documents = { ...store.documents, put };
  const locations = createStoredWorkspaceLocations({
    store: { documents },
    nodes: openNode('node_a'),
    workspaces: { has: async () => false },
  });
  for (let at = 0; at < nodeLimits.locationsKnownMax; at++) await locations.settle(`sesn_${at}`, 'workspace');
  await locations.settle('sesn_0', 'workspace');
  expect(writes).toBe(nodeLimits.locationsKnownMax);
  await locations.settle('sesn_more', 'workspace');
  await locations.settle('sesn_more', 'workspace');
  expect(writes).toBe(nodeLimits.locationsKnownMax + 1);
  await locations.settle('sesn_0', 'workspace');
  expect(writes).toBe(nodeLimits.locationsKnownMax + 2);
});

it('[P82] a session that was given up while its node was unreachable is registered again, and refused if another node has it', async () => {
  const { store, openNode } = open();
  const [a, b] = ['node_a', 'node_b'].map((nodeId) =>
    createStoredWorkspaceLocations({ store, nodes: openNode(nodeId), workspaces: { has: async () => false } }),
  ) as [StoredWorkspaceLocations, StoredWorkspaceLocations];
  await a.settle('sesn_1', 'workspace');
  await a.settle('sesn_2', 'program');
  // Node a is away for so long that b takes both; sesn_2 finds a new home there.
  await b.leave('sesn_1');
  await b.leave('sesn_2');
  await b.settle('sesn_2', 'program');
  expect(await a.find('sesn_1')).toBe('none');
  await a.settle('sesn_1', 'workspace');
  expect(await b.findOther('sesn_1')).toBe('node_a');
  expect([await a.isHere('sesn_1'), await a.isHere('sesn_2')]).toEqual([true, true]);
  expect(await a.findOther('sesn_2')).toBe('node_b');
  await a.find('sesn_2');
  expect(await a.isHere('sesn_2')).toBe(false);
  await expect(a.settle('sesn_2', 'program')).rejects.toThrow('another node');
  expect(await a.findOther('sesn_2')).toBe('node_b');
});

it('[P81] where all nodes have all workspaces, files bind no session, and a program does', async () => {
  const { store, openNode } = open();
  const openHomes = (nodeId: string) =>
    createStoredWorkspaceLocations({ store, nodes: openNode(nodeId), workspaces: 'shared' });
  const [a, b, restarted] = [openHomes('node_a'), openHomes('node_b'), openHomes('node_a')];
  await a.settle('sesn_1', 'workspace');
  expect([await a.find('sesn_1'), await b.find('sesn_1'), await a.isHere('sesn_1')]).toEqual(['none', 'none', false]);
  await a.settle('sesn_1', 'program');
  expect([await a.find('sesn_1'), await b.findOther('sesn_1')]).toEqual(['here', 'node_a']);
  expect([await a.isHere('sesn_1'), await b.isHere('sesn_1')]).toEqual([true, false]);
  expect([await restarted.find('sesn_1'), await restarted.isHere('sesn_1')]).toEqual(['here', true]);
});

it('[P83] sessions wait for their node for the configured time, and at least as long as a live node may be silent', () => {
  const { store, openNode } = open();
  const openHomes = (goneMs: number) =>
    createStoredWorkspaceLocations({ store, nodes: openNode('node_a'), workspaces: 'shared', goneMs });
  expect(() => openHomes(nodeLimits.nodeAliveMs)).not.toThrow();
  expect(() => openHomes(nodeLimits.nodeAliveMs - 1)).toThrow(
    `let sessions wait for ${nodeLimits.nodeAliveMs} ms at least`,
  );
});

it('[P59] one node requests files on the disk of another through the store, and waits at most for its limit', async () => {
  const store = createMemoryStore();
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => problems.push(problem);
  const openMessages = (nodeId: string) =>
    createNodeMessages({ store, nodeId, schedule: systemSchedule, onProblem, waitMs: 1_000 });
  const [one, two] = [openMessages('one'), openMessages('two')];
  two.start(async (question) => {
    if (question['type'] === 'bad') throw new Error('no');
    await store.blobs.write(
      'blob',
      (async function* () {
        yield Buffer.from('bytes');
      })(),
    );
    return { you_asked: question };
  });
  const given = await one.ask('two', { type: 'x' });
  expect(given?.answer).toEqual({ you_asked: { type: 'x' } });
  expect((await buffer(store.blobs.read('blob'))).toString()).toBe('bytes');
  await given?.done();
  expect((await one.ask('two', { type: 'bad' }))?.answer).toEqual({ failed: true });
  expect(problems).toHaveLength(1);
  expect(await one.ask('missing', { type: 'x' })).toBeUndefined();
  expect((await store.documents.list({ kind: 'node_question missing', limit: 10 })).items).toEqual([]);
  two.close();
  one.close();
});

it('[P62] a reader whose cursor is ahead of the signals of this node is accepted, and continues at its cursor', async () => {
  const store = createMemoryStore();
  const fence = await owned(store, 'sesn_1');
  await commitOne(store, append('sesn_1', fence, ['a']));
  // Signals of others take their time.
  const log = createLog({ store: { ...store, subscribe: () => () => {} } });
  const early = log.tail({ sessionId: 'sesn_1', after: 0 });
  await early.next();
  await commitOne(store, append('sesn_1', fence, ['b', 'c']));
  const late = log.tail({ sessionId: 'sesn_1', after: 3 });
  const waiting = late.next();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await commitOne(store, append('sesn_1', fence, ['d']));
  const step = await waiting;
  expect(step.done === true ? [] : step.value.map(({ seq }) => seq)).toEqual([4]);
  await expect(log.tail({ sessionId: 'sesn_1', after: 99 }).next()).rejects.toMatchObject({ code: 'invalid_cursor' });
  await Promise.all([early.return(), late.return()]);
  await log.close();
});
