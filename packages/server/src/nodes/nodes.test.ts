import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { systemSchedule } from '../base/schedule.ts';
import { createLog } from '../store/log.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { append, owned } from '../store/suite/samples.suite.ts';
import { commitOne } from '../store/write.ts';
import { createNodeHomes, type NodeHomes } from './node-homes.ts';
import { openNodeId } from './node-id.ts';
import { createNodeMail } from './node-mail.ts';
import { createNodeRegistry } from './node-registry.ts';
import { sweep } from './sweep.ts';

function open() {
  const clock = createManualClock(1_000_000);
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const problems: unknown[] = [];
  const openNode = (nodeId: string, on = store) =>
    createNodeRegistry({
      store: on,
      nodeId,
      instance: `${nodeId} ${Math.random()}`,
      clock,
      schedule,
      onProblem: (problem) => problems.push(problem),
    });
  /** Time passes, and everybody has time for a beat. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += limits.nodeBeatMs) {
      advance(Math.min(limits.nodeBeatMs, ms - passed));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  return { clock, store, problems, openNode, pass, advance };
}

it('[P57] a node keeps its name across restarts, and nodes know how many they are and which one takes care', async () => {
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
  await pass(limits.nodeBeatMs);
  expect([a.count(), b.count(), a.isCaretaker(), b.isCaretaker()]).toEqual([2, 2, true, false]);
  await a.close();
  await pass(limits.nodeBeatMs);
  expect([b.count(), b.isCaretaker(), a.isCaretaker()]).toEqual([1, true, false]);
  expect(problems).toEqual([]);
  await openNode('node_b').start();
  await pass(2 * limits.nodeBeatMs);
  expect(String(problems[0])).toContain('a data directory of its own');
});

it('[P58] a home is elsewhere while its node lives or is newly gone, and lost after that; a database that was away makes nobody lost', async () => {
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
  const homes = {
    a: createNodeHomes({ store, nodes: a, workspaces }),
    b: createNodeHomes({ store, nodes: b, workspaces }),
  };
  expect(await homes.b.find('sesn_1')).toBe('none');
  await homes.a.settle('sesn_1', 'workspace');
  expect([await homes.a.find('sesn_1'), await homes.b.find('sesn_1')]).toEqual(['here', 'elsewhere']);
  expect([await homes.a.findOther('sesn_1'), await homes.b.findOther('sesn_1')]).toEqual([undefined, 'node_a']);
  await pass(2 * limits.homeGoneMs);
  expect(await homes.b.find('sesn_1')).toBe('elsewhere');
  await a.close();
  await pass(limits.homeGoneMs);
  expect(await homes.b.find('sesn_1')).toBe('elsewhere');
  isAway = true;
  await pass(limits.nodeBeatMs);
  isAway = false;
  expect(await homes.b.find('sesn_1')).toBe('elsewhere');
  await pass(limits.nodeAliveMs + 2 * limits.nodeBeatMs);
  expect(await homes.b.find('sesn_1')).toBe('lost');
  await homes.b.leave('sesn_1');
  expect(await homes.b.find('sesn_1')).toBe('none');
  await homes.b.settle('sesn_2', 'workspace');
  clock.advance(limits.homeGoneMs + 1);
  expect(await sweep(store, [{ kind: 'home', isOfSession: true }])).toBe(1);
});

it('[P57] a node that is gone is forgotten after so long, and not earlier', async () => {
  const { clock, store, openNode, advance } = open();
  const [a, b, c] = [openNode('node_a'), openNode('node_b'), openNode('node_c')];
  for (const node of [a, b, c]) await node.start();
  await b.close();
  clock.advance(1);
  await c.close();
  advance(limits.nodeForgottenMs);
  const known = async () => (await store.documents.list({ kind: 'node', limit: 10 })).items.map(({ id }) => id);
  await expect.poll(known, { interval: 1 }).not.toContain('node_b');
  expect((await known()).toSorted()).toEqual(['node_a', 'node_c']);
  expect([await a.silenceMs('node_b'), await a.silenceMs('node_c')]).toEqual([Infinity, limits.nodeForgottenMs]);
  await a.close();
});

it('[P58] where so many sessions live is written once, and again only when a node knows no more of them', async () => {
  const { store, openNode } = open();
  let writes = 0;
  const put: typeof store.documents.put = async () => {
    writes += 1;
    return { kind: 'home', id: '', data: {}, revision: 1, createdAt: 0, updatedAt: 0 };
  };
  const documents = { ...store.documents, put };
  const homes = createNodeHomes({
    store: { documents },
    nodes: openNode('node_a'),
    workspaces: { has: async () => false },
  });
  for (let at = 0; at < limits.homesKnownMax; at++) await homes.settle(`sesn_${at}`, 'workspace');
  await homes.settle('sesn_0', 'workspace');
  expect(writes).toBe(limits.homesKnownMax);
  await homes.settle('sesn_more', 'workspace');
  await homes.settle('sesn_more', 'workspace');
  expect(writes).toBe(limits.homesKnownMax + 1);
  await homes.settle('sesn_0', 'workspace');
  expect(writes).toBe(limits.homesKnownMax + 2);
});

it('[P82] a session that was given up while its node was away is written down again, and one that lives elsewhere by then is refused', async () => {
  const { store, openNode } = open();
  const [a, b] = ['node_a', 'node_b'].map((nodeId) =>
    createNodeHomes({ store, nodes: openNode(nodeId), workspaces: { has: async () => false } }),
  ) as [NodeHomes, NodeHomes];
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
  const openHomes = (nodeId: string) => createNodeHomes({ store, nodes: openNode(nodeId), workspaces: 'shared' });
  const [a, b, restarted] = [openHomes('node_a'), openHomes('node_b'), openHomes('node_a')];
  await a.settle('sesn_1', 'workspace');
  expect([await a.find('sesn_1'), await b.find('sesn_1'), await a.isHere('sesn_1')]).toEqual(['none', 'none', false]);
  await a.settle('sesn_1', 'program');
  expect([await a.find('sesn_1'), await b.findOther('sesn_1')]).toEqual(['here', 'node_a']);
  expect([await a.isHere('sesn_1'), await b.isHere('sesn_1')]).toEqual([true, false]);
  expect([await restarted.find('sesn_1'), await restarted.isHere('sesn_1')]).toEqual(['here', true]);
});

it('[P83] sessions wait for their node for as long as is said, and never shorter than a node that lives may be silent', () => {
  const { store, openNode } = open();
  const openHomes = (goneMs: number) =>
    createNodeHomes({ store, nodes: openNode('node_a'), workspaces: 'shared', goneMs });
  expect(() => openHomes(limits.nodeAliveMs)).not.toThrow();
  expect(() => openHomes(limits.nodeAliveMs - 1)).toThrow(`let sessions wait for ${limits.nodeAliveMs} ms at least`);
});

it('[P59] one node asks another for what is on its disk, through the store, and waits no longer than it may', async () => {
  const store = createMemoryStore();
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => problems.push(problem);
  const openMail = (nodeId: string) =>
    createNodeMail({ store, nodeId, schedule: systemSchedule, onProblem, waitMs: 1_000 });
  const [one, two] = [openMail('one'), openMail('two')];
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
  expect(await one.ask('nobody', { type: 'x' })).toBeUndefined();
  expect((await store.documents.list({ kind: 'node_question nobody', limit: 10 })).items).toEqual([]);
  two.close();
  one.close();
});

it('[P62] a reader that knows more than the signals have told this node is let in, and goes on where it is', async () => {
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
