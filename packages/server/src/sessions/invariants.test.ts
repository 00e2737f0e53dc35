import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createScriptedEngine } from '../engines/model/scripted/engine.ts';
import { createIds } from '../base/ids.ts';
import type { SessionFrame } from '../frames/frames.ts';
import { createLog } from '../log/log.ts';
import { nodeLimits } from '../nodes/limits.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { createSessions } from './api/sessions.ts';
import { sessionLimits } from './core/limits.ts';
import { readFrames } from './suite/check-session.suite.ts';
import {
  confirm,
  createGate,
  delegates,
  type Fleet,
  hang,
  interruption,
  lead,
  message,
  openFleet,
  sends,
  solo,
  workspaceId,
} from './suite/fleet.suite.ts';
import { repositoryRoot } from '../../../../test/support/root.ts';
import { onEachStore, openMemory } from './suite/stores.suite.ts';
import { createVirtualTime } from './suite/virtual-time.suite.ts';

const bash = { kind: 'builtin' as const };
const work = {
  turns: [
    [{ think: 'Let me see, step by step.' }, { say: 'Looking at it now.' }, { call: 'bash' }],
    [{ say: 'It is fine.' }],
  ],
};
const fanOut = {
  turns: [[{ say: 'All of you, go.' }, delegates(work, work, work), sends(work)], [{ say: 'Done, thanks to all.' }]],
};

onEachStore((openStore) => {
  it('[I2] a reader from any cursor, at any moment, sees every later frame once, and the numbers have no gaps', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: { bash } });
    const id = await fleet.begin(lead, fanOut);
    const readers: Promise<number[]>[] = [];
    for (let after = 0; after < 40; after += 5) {
      await fleet.until(id, ({ seq }) => seq >= after);
      readers.push(readUntilRest(fleet, id, after));
    }
    const all = await Promise.all(readers);
    const head = await fleet.head(id);
    for (const [index, seqs] of all.entries()) {
      expect(seqs).toEqual(Array.from({ length: head - index * 5 }, (_, at) => index * 5 + at + 1));
    }
  });

  it('[I3, O15] streamed text is in the log too: the deltas of a block add up to it, all before the end of their request', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: { bash } });
    const id = await fleet.begin(lead, fanOut);
    await fleet.rest(id);
    const frames = await fleet.frames(id);
    const grown = fold(frames);
    const blocks = frames.flatMap((frame) => {
      if (frame.type === 'agent.message') return [[frame.payload.id, frame.payload.content[0]!.text]];
      if (frame.type !== 'agent.thinking') return [];
      return [[frame.payload.id, 'thinking' in frame.payload.block ? frame.payload.block.thinking : '']];
    });
    expect(blocks.length).toBeGreaterThan(10);
    expect(Object.fromEntries(grown)).toEqual(Object.fromEntries(blocks));
    checkDeltaPlaces(frames);
  });
});

/** What blocks became while they grew. */
function fold(frames: readonly SessionFrame[]): Map<string, string> {
  const grown = new Map<string, string>();
  for (const { type, payload } of frames) {
    if (type === 'delta.started') grown.set(payload.id, '');
    if (type === 'delta.text' || type === 'delta.thinking')
      grown.set(payload.id, grown.get(payload.id)! + payload.text);
  }
  return grown;
}

/** Between the beginning and the end of a request of their thread. */
function checkDeltaPlaces(frames: readonly SessionFrame[]): void {
  const requesting = new Set<string>();
  for (const { type, threadId, seq } of frames) {
    if (type === 'span.model_request_start') requesting.add(threadId!);
    if (type === 'span.model_request_end') requesting.delete(threadId!);
    if (type.startsWith('delta.')) expect(requesting.has(threadId!) || seq).toBe(true);
  }
}

async function readUntilRest(fleet: Fleet, sessionId: string, after: number): Promise<number[]> {
  const seqs: number[] = [];
  for await (const entries of fleet.log.tail({ sessionId, after })) {
    for (const entry of entries) {
      seqs.push(entry.seq);
      if (entry.kind === 'frame' && entry.value.type === 'session.status_idle') return seqs;
    }
  }
  return seqs;
}

it('[I3] after an interrupt nothing of the request is written any more, however much was said', async () => {
  const fleet = await openFleet();
  const text = 'word '.repeat(2_000);
  for (let round = 0; round < 5; round++) {
    const id = await fleet.begin(solo, { turns: [[{ say: text, chunks: 500, every_ms: 1 }, hang]] });
    await fleet.until(id, ({ type }) => type === 'delta.text');
    await fleet.send(id, interruption());
    await fleet.rest(id);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const frames = await fleet.frames(id);
    expect(frames.at(-1)!.type).toBe('session.status_idle');
    checkDeltaPlaces(frames);
  }
});

it('[I1] no reader receives a frame, and no work starts for it, before it is on disk', async () => {
  const store = await openMemory();
  let gate = createGate();
  gate.open();
  const slow: Store = { ...store, commit: async (writes) => (await gate.opened, store.commit(writes)) };
  const done: string[] = [];
  const engine = createScriptedEngine();
  const watched = {
    ...engine,
    request: (...args: Parameters<typeof engine.request>) => (done.push('request'), engine.request(...args)),
  };
  const fleet = await openFleet({
    store: slow,
    engine: watched,
    tools: { bash: { ...bash, permission: 'ask', run: () => (done.push('tool'), { content: [], isError: false }) } },
  });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'Done.' }]] });
  const { seq } = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  expect(done).toEqual(['request']);
  await fleet.send(id, confirm(ask!));
  // From here on the disk does not answer, until it does.
  gate = createGate();
  const next = fleet.until(id, () => true, seq);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(done).toEqual(['request']);
  expect((await readFrames(store, id)).at(-1)!.seq).toBe(seq);
  await expect(Promise.race([next, Promise.resolve('nothing')])).resolves.toBe('nothing');
  gate.open();
  expect((await next).type).toBe('user.tool_confirmation');
  await fleet.rest(id, seq);
  expect(done).toEqual(['request', 'tool', 'request']);
});

it('[I4] a reader that stopped reading delays no other reader', async () => {
  const fleet = await openFleet({ tools: { bash } });
  const { id } = await fleet.sessions.create({ workspaceId, agent: lead, environment: { id: 'env_1', type: 'cloud' } });
  const stuck = fleet.log.tail({ sessionId: id, after: 0 });
  await stuck.next();
  await fleet.send(id, message(fanOut));
  await fleet.rest(id);
  expect((await fleet.payloads(id, 'turn.ended')).every(({ ok }) => ok)).toBe(true);
  const rest = await stuck.next();
  expect(rest.done === true ? 0 : rest.value[0]!.seq).toBe(2);
  await stuck.return();
});

it('[I9] with the same time and chance a session is the same to the last byte', async () => {
  const [one, two] = [await replay(1), await replay(1)];
  expect(one.length).toBeGreaterThan(80);
  expect(two).toEqual(one);
  expect(await replay(2)).not.toEqual(one);
});

/** A whole fleet on time that only passes when it waits. */
async function replay(chance: number): Promise<SessionFrame[]> {
  const time = createVirtualTime();
  const { clock, schedule } = time;
  // Long work yields to the event loop by the time it took, which is part of the time that has to be the same.
  const measured = vi.spyOn(performance, 'now').mockImplementation(() => clock.steady());
  onTestFinished(() => measured.mockRestore());
  const random = () => (chance = (chance * 16_807) % 2_147_483_647) / 2_147_483_647;
  const store = createMemoryStore({ clock });
  const log = createLog({ store, schedule });
  const offered = {
    kind: 'builtin' as const,
    name: 'bash',
    description: '',
    inputSchema: {},
    isEnabled: true,
    permission: 'allow' as const,
    isSandboxed: true,
  };
  const run = async () => (await time.sleep(30), { content: [{ type: 'text' as const, text: 'ran' }], isError: false });
  const sessions = createSessions({
    store,
    log,
    engine: createScriptedEngine({ sleep: (ms, signal) => time.sleep(ms, signal) }),
    models: { costNanoUsd: () => 1, windowTokens: () => 1_000_000 },
    openToolbox: () => ({
      offer: async () => ({ tools: new Map([['bash', { ...offered, run }]]), problems: [] }),
      closeThread: async () => {},
      close: async () => {},
    }),
    openWorkspace: async () => '/',
    clock,
    ids: createIds({ now: clock.now, random }),
    random,
    owner: 'replay',
    schedule,
  });
  await sessions.start();
  const failing = { turns: [[{ fail: { status: 529, times: 2 } }, { say: 'Better now.', every_ms: 7 }]] };
  const events = [message({ turns: [[delegates(work, failing), sends(work)], [{ say: 'Done.', every_ms: 11 }]] })];
  const { id } = await sessions.create({
    workspaceId,
    agent: lead,
    environment: { id: 'env_1', type: 'cloud' },
    events,
  });
  while ((await store.sessions.get(workspaceId, id))!.status !== 'idle') await time.step();
  const frames = await readFrames(store, id);
  await sessions.close();
  await log.close();
  return frames;
}

it('[R190] frames of a turn are between its start and its end, and have its number, depth and run', async () => {
  const fleet = await openFleet({ tools: { bash, ask: { ...bash, permission: 'ask' } } });
  const asks = { turns: [[{ call: 'ask' }], [{ say: 'x' }]] };
  const id = await fleet.begin(
    lead,
    { turns: [[delegates({ turns: [[delegates(work, asks)], [{ say: 'y' }]] }, work)], [{ say: 'z' }]] },
    { depthMax: 2 },
  );
  await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  const head = await fleet.head(id);
  await fleet.send(id, confirm(ask!));
  await fleet.rest(id, head);
  const frames = await fleet.frames(id);
  const open = new Map<number, string>();
  const numbers: number[] = [];
  for (const { type, turn, threadId, seq } of frames) {
    if (turn === null || type.startsWith('run.')) continue;
    if (type === 'turn.started') {
      numbers.push(turn.streamId);
      open.set(turn.streamId, threadId!);
    }
    expect([seq, open.get(turn.streamId)]).toEqual([seq, threadId]);
    if (type === 'turn.ended') open.delete(turn.streamId);
  }
  expect(open.size).toBe(0);
  expect(numbers).toEqual([0, 1, 2, 3, 4]);
  const depths = frames.flatMap((frame) =>
    frame.type === 'turn.started' ? [[frame.payload.parent_stream_id, frame.turn!.depth]] : [],
  );
  expect(depths.toSorted((a, b) => a[1]! - b[1]!)).toEqual([
    [null, 0],
    [0, 1],
    [0, 1],
    [1, 2],
    [1, 2],
  ]);
  expect(new Set(frames.filter(({ turn }) => turn !== null).map(({ turn }) => turn!.run)).size).toBe(1);
  const working = frames.filter(
    ({ threadId, type }) => threadId !== null && /^(agent|span|tool|delta|user)\./.test(type),
  );
  expect(working.filter(({ turn }) => turn === null).map(({ type }) => type)).toEqual([]);
});

it('[R191] the status of a session and its event are written in one commit: the record never differs', async () => {
  const fleet = await openFleet({ tools: { bash } });
  const id = await fleet.begin(lead, fanOut);
  await fleet.rest(id);
  for (const write of fleet.store.writes) {
    if (write.type !== 'append') continue;
    const types = write.frames.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString())[3] as string);
    const status = types.findLast((type) => type.startsWith('session.status_'));
    const record = write.changes.findLast((change) => change.type === 'update_session');
    if (status !== undefined) expect(`session.status_${record!.patch.status}`).toBe(status);
  }
});

it('[I10] every number that bounds sessions, and processes that share them, has a test at its edge', () => {
  const names = [sessionLimits, nodeLimits].flatMap((each) => Object.keys(each));
  expect(names.length).toBeGreaterThan(50);
  const tests = listTests('..').filter((name) => !name.endsWith('invariants.test.ts'));
  const named = new Set(tests.flatMap((name) => read(name).match(/Limits\.\w+/g) ?? []));
  expect(names.filter((name) => !named.has(`Limits.${name}`))).toEqual([]);
});

function listTests(folder: string): string[] {
  const names = readdirSync(new URL(folder, import.meta.url), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => `${folder}/${name}`);
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

it('[I8] no import of the repository goes against the flow', () => {
  const script = join(repositoryRoot, 'scripts', 'check-arrows.mjs');
  expect(execFileSync(process.execPath, [script], { encoding: 'utf8' })).toBe('');
});
