import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits as bounds } from '../limits.ts';
import type { Entry, NewFrame } from '../store/frame.ts';
import { createLog, type LogOptions, type SessionLog } from './log.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { toUnreachable } from '../store/postgres/database-failure.ts';
import type { Store } from '../store/store.ts';
import { storeError } from '../store/store-errors.ts';
import { gateStore } from '../store/suite/gated-store.suite.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { codeOf, create, owned, sampleFrame, show } from '../store/suite/samples.suite.ts';
import { commitOne, type Write } from '../store/write.ts';

async function createSample(options: Partial<LogOptions> = {}) {
  const gate = gateStore(options.store ?? createMemoryStore());
  const fence = await owned(gate.store, 'sesn_1');
  const log = createLog({ ...options, store: gate.store });
  const append = (...texts: string[]) => log.append(appendOf('sesn_1', fence, texts));
  return { ...gate, log, fence, append };
}

function appendOf(sessionId: string, fence: number, texts: string[]): Write<NewFrame> {
  return { type: 'append', sessionId, fence, frames: texts.map((text) => sampleFrame(text)), changes: [] };
}

/** Reads on and on into `seen`. */
function follow(log: SessionLog, after = 0, sessionId = 'sesn_1') {
  const controller = new AbortController();
  const seen: Entry[] = [];
  const tail = log.tail({ sessionId, after, signal: controller.signal });
  const end = (async () => {
    while (true) {
      const step = await tail.next();
      if (step.done === true) return step.value;
      seen.push(...step.value);
    }
  })();
  return { seen, end, stop: () => controller.abort(), shown: () => show(seen) };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
async function ticks(count = 6): Promise<void> {
  for (let round = 0; round < count; round++) await tick();
}

describe('writing', () => {
  it('[O1] no reader sees a frame before it is committed', async () => {
    const { log, store, append, commits, shut, open } = await createSample();
    const reader = follow(log);
    shut();
    const appended = append('a');
    await ticks();
    const late = follow(log);
    await ticks();
    expect([commits.length, reader.seen, late.seen]).toEqual([1, [], []]);
    expect(await store.heads(['sesn_1'])).toEqual(new Map([['sesn_1', 0]]));
    open();
    expect(await appended).toEqual({ firstSeq: 1, lastSeq: 1 });
    await ticks();
    expect([reader.shown(), late.shown()]).toEqual([['1 a'], ['1 a']]);
    await log.close();
  });

  it('[O3] an idle log commits in the same tick, and writes during a commit are in the next one', async () => {
    const { append, commits, shut, open, log } = await createSample();
    shut();
    const all = [append('a'), append('b')];
    await tick();
    expect(commits.map(({ writes }) => writes.length)).toEqual([2]);
    for (const text of ['c', 'd', 'e']) all.push(append(text));
    await ticks();
    expect(commits).toHaveLength(1);
    commits.shift()!.pass();
    await ticks();
    expect(commits.map(({ writes }) => writes.length)).toEqual([3]);
    open();
    expect((await Promise.all(all)).map(({ lastSeq }) => lastSeq)).toEqual([1, 2, 3, 4, 5]);
    await log.close();
  });

  it('[O4] a failing commit rejects who is in it and behind it, nothing of it is seen, and the next one works', async () => {
    const { log, store, append, commits, shut, open } = await createSample();
    const other = await owned(store, 'sesn_2');
    const reader = follow(log);
    shut();
    const failing = [append('a'), append('b')].map((promise) => promise.catch((error: unknown) => error));
    await tick();
    const behind = codeOf(append('c'));
    const elsewhere = log.append(appendOf('sesn_2', other, ['x']));
    commits.shift()!.fail(new Error('disk on fire'));
    const [first, second] = await Promise.all(failing);
    expect(first).toMatchObject({ code: 'store_failed', kind: 'retryable', cause: new Error('disk on fire') });
    expect(second).toBe(first);
    expect(await behind).toBe('write_skipped');
    open();
    expect(await elsewhere).toEqual({ firstSeq: 1, lastSeq: 1 });
    expect(await append('d')).toEqual({ firstSeq: 1, lastSeq: 1 });
    await ticks();
    expect(reader.shown()).toEqual(['1 d']);
    await log.close();
  });

  it('[O5] a stale owner is refused, and the others in the same commit are not', async () => {
    const { log, store, append, fence } = await createSample();
    const other = await owned(store, 'sesn_2');
    const [one, two, three] = [
      append('a'),
      log.append(appendOf('sesn_1', fence - 1, ['ghost'])),
      log.append(appendOf('sesn_2', other, ['x'])),
    ];
    expect([await codeOf(one), await codeOf(two), await codeOf(three)]).toEqual(['ok', 'stale_owner', 'ok']);
    const reader = follow(log);
    await ticks();
    expect(reader.shown()).toEqual(['1 a']);
    await log.close();
  });

  it('[O16] a frame may be changed after the call, and the log has its earlier content', async () => {
    const { log } = await createSample();
    const payload = { text: 'before' };
    const write = appendOf('sesn_1', 1, []);
    const appended = log.append({ ...write, frames: [sampleFrame('', { payload })] } as Write<NewFrame>);
    payload.text = 'after';
    await appended;
    const reader = follow(log);
    await ticks();
    expect(reader.shown()).toEqual(['1 before']);
    await log.close();
  });

  it('[O11] a full queue refuses, one commit has no more than its limit, and a frame no more than its own', async () => {
    const bytes = JSON.stringify(['sthr_1', null, sampleFrame('').time, 'text', { text: 'a' }]).length;
    // Kept, each says that it is the last of its write.
    const one = bytes + 2 + 1 + 1_024;
    const limits = { logQueueBytesMax: 4 * one, logCommitBytesMax: 2 * one, frameBytesMax: bytes };
    const { log, append, commits, shut, open } = await createSample({ limits });
    shut();
    const all = ['a', 'b', 'c', 'd'].map((text) => append(text));
    expect(await codeOf(append('e'))).toBe('log_full');
    await tick();
    expect(await codeOf(append('too long'))).toBe('frame_too_large');
    await tick();
    expect(commits.map(({ writes }) => writes.length)).toEqual([2]);
    open();
    await Promise.all(all);
    expect(await append('e')).toEqual({ firstSeq: 5, lastSeq: 5 });
    await log.close();
    const small = await createSample({ limits: { logQueueBytesMax: 1 } });
    expect(await codeOf(small.append('larger than the queue, but alone'))).toBe('ok');
    await small.log.close();
  });

  it('[O30] a commit of 512 KiB or more begins in a later turn of the event loop than the one that serialised it', async () => {
    const store = createMemoryStore();
    const made = { commits: 0 };
    const counted: Store = { ...store, commit: (writes) => (made.commits++, store.commit(writes)) };
    const { log, append, fence } = await createSample({ store: counted });
    const turnsUntilCommit = async (text: string) => {
      const { commits: before } = made;
      const appended = append(text);
      let turns = 0;
      for (; made.commits === before; turns++) await tick();
      await appended;
      return turns;
    };
    const short = await turnsUntilCommit('short');
    expect(await turnsUntilCommit('x'.repeat(bounds.logCommitAloneBytes - 10_000))).toBe(short);
    expect(await turnsUntilCommit('x'.repeat(bounds.logCommitAloneBytes))).toBe(short + 2);
    const data = { text: 'x'.repeat(bounds.logCommitAloneBytes) };
    const patch = { type: 'update_session' as const, updatedAt: 1, patch: { data } };
    const { commits: before } = made;
    const appended = log.append({ ...appendOf('sesn_1', fence, ['short']), changes: [patch] } as Write<NewFrame>);
    for (let turn = 0; turn <= short; turn++) await tick();
    expect(made.commits).toBe(before);
    await appended;
    await log.close();
  });

  it('[O18] a write sent before its writer knows of an earlier refusal is refused too, and leaves no gap', async () => {
    const bytes = JSON.stringify(['sthr_1', null, sampleFrame('').time, 'text', { text: 'long one' }]).length;
    const limits = { logQueueBytesMax: 2 * (bytes + 1 + 1_024) - 1, frameBytesMax: bytes };
    const { log, append, store, fence } = await createSample({ limits });
    const other = await owned(store, 'sesn_2');
    const full = ['long one', 'long two', 'b'].map((text) => codeOf(append(text)));
    const elsewhere = codeOf(log.append(appendOf('sesn_2', other, ['x'])));
    expect(await Promise.all([...full, elsewhere])).toEqual(['ok', 'log_full', 'write_skipped', 'ok']);
    await tick();
    const large = ['c', 'a longer one', 'd'].map((text) => codeOf(append(text)));
    expect(await Promise.all(large)).toEqual(['ok', 'frame_too_large', 'write_skipped']);
    await tick();
    const reader = follow(log);
    await append('e');
    await ticks();
    expect(reader.shown()).toEqual(['1 long one', '2 c', '3 e']);
    // The refusal does not affect the next owner.
    const refused = codeOf(append('a longer one'));
    await store.leases.release({ sessionId: 'sesn_1', fence });
    const next = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'next', ttlMs: 1_000 });
    if (!next.ok) throw new Error('no other owner holds it');
    expect(await codeOf(log.append(appendOf('sesn_1', next.fence, ['f'])))).toBe('ok');
    expect(await refused).toBe('frame_too_large');
    await log.close();
  });

  it('[O18] a write sent before the refusal of the previous commit has arrived is refused too', async () => {
    const { log, append, store, commits, shut, open } = await createSample();
    shut();
    const first = append('a');
    await tick();
    commits.shift()!.fail(new Error('disk full'));
    open();
    // One after the other within the tick, so that some come between the failure and the news of it.
    const others: Promise<string>[] = [];
    for (let step = 0; step < 30; step++) {
      others.push(codeOf(append('b')));
      await Promise.resolve();
    }
    expect(await codeOf(first)).toBe('store_failed');
    expect(new Set(await Promise.all(others))).toEqual(new Set(['write_skipped']));
    await tick();
    expect(await append('c')).toEqual({ firstSeq: 1, lastSeq: 1 });
    expect(await store.heads(['sesn_1'])).toEqual(new Map([['sesn_1', 1]]));
    await log.close();
  });

  it('[O19] a writer continues before its readers do', async () => {
    const { log, append } = await createSample();
    const order: string[] = [];
    const tail = log.tail({ sessionId: 'sesn_1', after: 0 });
    const read = tail.next().then(() => order.push('reader'));
    await ticks();
    await append('a');
    // What it does at once may take several steps.
    for (let step = 0; step < 20; step++) await Promise.resolve();
    order.push('writer');
    await read;
    expect(order).toEqual(['writer', 'reader']);
    await log.close();
  });

  it('[O13] closing commits queued writes, ends the readers, and refuses later writes', async () => {
    const { log, append, store } = await createSample();
    const reader = follow(log);
    const appended = append('a');
    await log.close();
    expect(await appended).toEqual({ firstSeq: 1, lastSeq: 1 });
    expect(await reader.end).toBe('closed');
    expect(await codeOf(append('b'))).toBe('closed');
    expect(await follow(log).end).toBe('closed');
    expect(await store.heads(['sesn_1'])).toEqual(new Map([['sesn_1', 1]]));
  });
});

describe('reading', () => {
  it.each([
    ['memory', async () => createMemoryStore()],
    ['sqlite', () => openSqliteStore({ path: ':memory:' })],
  ] as [string, () => Promise<Store>][])(
    '[O2] on %s a reader that starts at any cursor at any moment sees each later frame exactly once and in order',
    async (_, createStore) => {
      const step = fc.oneof(
        fc.record({ type: fc.constant('append' as const), count: fc.integer({ min: 1, max: 5 }) }),
        fc.record({ type: fc.constant('foreign' as const), count: fc.integer({ min: 1, max: 3 }) }),
        fc.record({ type: fc.constant('read' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
        fc.record({ type: fc.constant('wait' as const), ticks: fc.nat(2) }),
      );
      const limits = fc.constantFrom(
        {},
        { feedBytesMax: 200 },
        { feedBytesMax: 0 },
        { feedsBytesMax: 0, logBatchEntriesMax: 1 },
        { logBatchBytesMax: 1 },
      );
      const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), limits, async (steps, bounds) => {
        const { log, store, fence, append } = await createSample({ store: await createStore(), limits: bounds });
        const elsewhere = createLog({ store });
        const readers: { after: number; reader: ReturnType<typeof follow> }[] = [];
        let made = 0;
        for (const each of steps) {
          const texts = 'count' in each ? Array.from({ length: each.count }, () => `f${++made}`) : [];
          if (each.type === 'append') await append(...texts);
          // The same owner through another log, as another process would.
          if (each.type === 'foreign') await elsewhere.append(appendOf('sesn_1', fence, texts));
          if (each.type === 'wait') await ticks(each.ticks);
          const after = each.type === 'read' ? Math.round(each.at * made) : 0;
          if (each.type === 'read') readers.push({ after, reader: follow(log, after) });
        }
        await ticks(made * 2 + 10);
        for (const { after, reader } of readers) {
          reader.stop();
          expect(await reader.end).toBe('aborted');
          expect(reader.shown()).toEqual(
            Array.from({ length: made - after }, (__, at) => `${after + at + 1} f${after + at + 1}`),
          );
        }
        await log.close();
        await elsewhere.close();
        await store.close();
      });
      await fc.assert(property, { numRuns: 40 });
    },
  );

  it('[O2] a frame that comes at any moment between looking and waiting is not missed', async () => {
    const { log, store, fence } = await createSample();
    const tail = log.tail({ sessionId: 'sesn_1', after: 0 });
    const write = () =>
      commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: [encode('a')], changes: [] });
    await write();
    await tail.next();
    for (let moment = -10; moment <= 10; moment++) {
      // Either the reader looks first and the frame comes so many steps later, or the other way round.
      const first = moment < 0 ? write() : tail.next();
      for (let step = 0; step < (moment < 0 ? -moment - 1 : moment); step++) await Promise.resolve();
      const second = moment < 0 ? tail.next() : write();
      const late = ticks(20).then(() => `missed at ${moment}`);
      expect(await Promise.race([Promise.all([first, second]).then(() => 'seen'), late])).toBe('seen');
    }
    await log.close();
  });

  it('[O7] readers share the very same entries, live and when they read what another process wrote', async () => {
    const { log, store, append, fence } = await createSample({ store: await openSqliteStore({ path: ':memory:' }) });
    const [one, two] = [follow(log), follow(log)];
    await ticks();
    await append('a', 'b');
    await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: [encode('c')], changes: [] });
    await ticks();
    expect(one.shown()).toEqual(['1 a', '2 b', '3 c']);
    expect(one.seen.map((entry, index) => entry === two.seen[index])).toEqual([true, true, true]);
    await log.close();
  });

  it('[O8] a reader that is behind the newest frames reads the store, in batches up to the limit', async () => {
    const store = createMemoryStore();
    let reads = 0;
    const counted: Store = { ...store, read: (request) => (reads++, store.read(request)) };
    const size = encode('a').bytes.length + 2 + 1;
    const limits = { feedBytesMax: 3 * size, logBatchEntriesMax: 2 };
    const { log, append } = await createSample({ store: counted, limits });
    const live = follow(log);
    await ticks();
    await append('a', 'b', 'c');
    const near = log.tail({ sessionId: 'sesn_1', after: 0 });
    expect(show((await near.next()).value as Entry[])).toEqual(['1 a', '2 b']);
    expect(reads).toBe(0);
    await append('d');
    const far = log.tail({ sessionId: 'sesn_1', after: 0 });
    expect(show((await far.next()).value as Entry[])).toEqual(['1 a', '2 b']);
    expect(reads).toBe(1);
    expect(show((await far.next()).value as Entry[])).toEqual(['3 c', '4 d']);
    expect(show((await near.next()).value as Entry[])).toEqual(['3 c', '4 d']);
    expect(reads).toBe(1);
    await ticks();
    expect(live.shown()).toEqual(['1 a', '2 b', '3 c', '4 d']);
    await log.close();
  });

  it('[O8] the feeds of all sessions are bounded together, and the least recently active ones are emptied first', async () => {
    const store = createMemoryStore();
    let reads = 0;
    const counted: Store = { ...store, read: (request) => (reads++, store.read(request)) };
    const size = encode('a').bytes.length + 2 + 1;
    const { log, append } = await createSample({ store: counted, limits: { feedsBytesMax: 2 * size } });
    const other = await owned(store, 'sesn_2');
    const readers = [follow(log), follow(log, 0, 'sesn_2')];
    await ticks();
    await append('a');
    await log.append(appendOf('sesn_2', other, ['b']));
    await log.tail({ sessionId: 'sesn_1', after: 0 }).next();
    expect(reads).toBe(0);
    await log.append(appendOf('sesn_2', other, ['c']));
    await log.tail({ sessionId: 'sesn_2', after: 0 }).next();
    expect(reads).toBe(0);
    await log.tail({ sessionId: 'sesn_1', after: 0 }).next();
    expect(reads).toBe(1);
    await ticks();
    expect(readers.map(({ seen }) => seen.length)).toEqual([1, 2]);
    await log.close();
  });

  it('[O9] readers of a session end when it is deleted; one that does not exist, or a cursor ahead of it, is an error', async () => {
    const { log, fence, append } = await createSample();
    await append('a');
    const [waiting, reading] = [follow(log, 1), log.tail({ sessionId: 'sesn_1', after: 0 })];
    await reading.next();
    await ticks();
    await log.append({ type: 'delete', sessionId: 'sesn_1', fence });
    expect(await waiting.end).toBe('deleted');
    expect(await reading.next()).toEqual({ done: true, value: 'deleted' });
    await ticks();
    expect(await codeOf(follow(log).end)).toBe('not_found');
    const next = await createSample();
    expect(await codeOf(follow(next.log, 1).end)).toBe('invalid_cursor');
    expect(await codeOf(follow(next.log, Number.NaN).end)).toBe('invalid_cursor');
    await Promise.all([log.close(), next.log.close()]);
  });

  it('[O10] writes and deletions of another process are noticed by a signal, and without one by polling', async () => {
    const clock = createManualClock();
    const { schedule, advance, waiting } = createManualSchedule(clock);
    const store = createMemoryStore();
    const deaf: Store = { ...store, subscribe: () => () => {} };
    const { log, fence } = await createSample({ store: deaf, schedule, limits: { logPollMs: 1_000 } });
    expect(waiting()).toBe(0);
    const reader = follow(log);
    await ticks();
    await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames: [encode('a')], changes: [] });
    advance(999);
    await ticks();
    expect(reader.shown()).toEqual([]);
    advance(1);
    await ticks();
    expect(reader.shown()).toEqual(['1 a']);
    await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
    advance(1_000);
    expect(await reader.end).toBe('deleted');
    await ticks();
    expect(waiting()).toBe(0);
    await log.close();
  });

  it('[O12] a reader that is aborted or leaves ends at once, also while it waits', async () => {
    const { log, append } = await createSample();
    const aborted = follow(log);
    const leaving = log.tail({ sessionId: 'sesn_1', after: 0 });
    const pending = leaving.next();
    await ticks();
    aborted.stop();
    expect(await aborted.end).toBe('aborted');
    expect(await leaving.return()).toEqual({ done: true, value: 'aborted' });
    expect(await pending).toEqual({ done: true, value: 'aborted' });
    await append('a');
    for await (const entries of log.tail({ sessionId: 'sesn_1', after: 0 })) {
      expect(show(entries)).toEqual(['1 a']);
      break;
    }
    await log.close();
  });

  it('[O17] a hole in the log is an error of its own, never a jump', async () => {
    const store = createMemoryStore();
    const broken: Store = { ...store, read: async (request) => (await store.read(request)).slice(1) };
    const { log, append } = await createSample({ store: broken });
    await append('a', 'b');
    expect(await codeOf(follow(log).end)).toBe('log_broken');
    // What the store says is there, but does not give.
    expect(await codeOf(follow(log, 1).end)).toBe('log_broken');
    await log.close();
  });

  it('[O4] an error of the store while reading ends that reader with it', async () => {
    const store = createMemoryStore();
    const broken: Store = { ...store, read: () => Promise.reject(new Error('connection lost')) };
    const { log, append } = await createSample({ store: broken });
    await append('a');
    await expect(follow(log).end).rejects.toThrow('connection lost');
    await log.close();
  });

  it('[P91] a reader waits while the database is unreachable, continues when it is back, and ends when it is aborted', async () => {
    const store = createMemoryStore();
    const { schedule, advance, waiting } = createManualSchedule(createManualClock());
    let isAway = true;
    const unlessAway = <Answer>(run: () => Promise<Answer>): Promise<Answer> =>
      isAway ? Promise.reject(storeError('store_failed', 'away', toUnreachable(new Error('ECONNREFUSED')))) : run();
    const outage: Store = {
      ...store,
      heads: (ids) => unlessAway(() => store.heads(ids)),
      read: (request) => unlessAway(() => store.read(request)),
    };
    const { log, append } = await createSample({ store: outage, schedule });
    await append('a');
    const [reader, leaving] = [follow(log), follow(log)];
    for (let attempt = 0; attempt < 3; attempt++) {
      await ticks();
      advance(bounds.logPollMs);
    }
    leaving.stop();
    expect(await leaving.end).toBe('aborted');
    expect(reader.shown()).toEqual([]);
    isAway = false;
    await ticks();
    advance(bounds.logPollMs);
    await ticks();
    expect(reader.shown()).toEqual(['1 a']);
    await append('b');
    await ticks();
    expect(reader.shown()).toEqual(['1 a', '2 b']);
    await log.close();
    expect(await reader.end).toBe('closed');
    expect(waiting()).toBe(0);
  });

  it('[O2] a session that is created while it is read is either missing or complete', async () => {
    const { log } = await createSample();
    const asked = codeOf(follow(log, 0, 'sesn_new').end);
    const session = (create('sesn_new') as Extract<Write, { type: 'create' }>).session;
    await log.append({ type: 'create', session, frames: [sampleFrame('a')], changes: [] });
    expect(await asked).toBe('not_found');
    const reader = follow(log, 0, 'sesn_new');
    await ticks();
    expect(reader.shown()).toEqual(['1 a']);
    await log.close();
  });
});

function encode(text: string) {
  const frame = sampleFrame(text);
  return { bytes: Buffer.from(JSON.stringify([frame.threadId, null, frame.time, frame.type, frame.payload])) };
}
