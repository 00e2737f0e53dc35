import { afterAll, expect, it, onTestFinished } from 'vitest';
import { testDatabase } from '../../../../../test/support/postgres.ts';
import { storeLimits } from '../limits.ts';
import { createLog } from '../../log/log.ts';
import type { Signal, Store } from '../store.ts';
import { compareHistories } from '../suite/histories.suite.ts';
import {
  append,
  codeOf,
  create,
  enqueue,
  frames,
  newSession,
  owned,
  readAll,
  show,
  start,
} from '../suite/samples.suite.ts';
import { commitOne, type Write } from '../write.ts';
import { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { STEPS } from './steps.ts';
import { openPostgresStore } from './postgres-store.ts';
import { until } from './suite/until.suite.ts';

// Two stores are what two processes would have: they share nothing but the database.

const place = await testDatabase();
const database = await Database.open(place);
const opened = await Promise.all([1, 2, 3, 4].map(() => openPostgresStore(place)));
const [one, two] = opened as [Store, Store];
afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()));
  await database.close();
});

function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

function listen(store: Store): Signal[] {
  const heard: Signal[] = [];
  store.subscribe((signals) => heard.push(...signals));
  return heard;
}

it('[P1] PostgreSQL and memory return the same results for the same random history', async () => {
  const { url } = place;
  const schema = `${place.schema}_p1`;
  await (await openPostgresStore({ url, schema })).close();
  const own = await Database.open({ url, schema });
  const open = async (clock: NonNullable<Parameters<typeof openPostgresStore>[0]['clock']>) => {
    await own.write('DELETE FROM ~sessions; DELETE FROM ~segments; DELETE FROM ~idempotency_keys');
    return openPostgresStore({ url, schema, clock });
  };
  await compareHistories(open, process.env['FLEETLOOM_LONG'] === '1' ? 500 : 10);
  await own.write(`DROP SCHEMA ${schema} CASCADE`);
  await own.close();
});

it('[P2] any number of processes make the tables at once, each step runs once, and a newer form is refused', async () => {
  const versions = await database.read('SELECT version FROM ~migrations');
  expect(versions.rows).toEqual(STEPS.map((_, index) => ({ version: index + 1 })));
  const schema = `${place.schema}_p2`;
  const own = await Database.open({ url: place.url, schema });
  const steps = ['CREATE TABLE ~a (x int8)', 'INSERT INTO ~a VALUES (1)', 'INSERT INTO ~a VALUES (2)'];
  await Promise.all([1, 2, 3].map(() => migrate(own, steps.slice(0, 2))));
  await Promise.all([1, 2, 3].map(() => migrate(own, steps)));
  expect((await own.read('SELECT x FROM ~a ORDER BY x')).rows).toEqual([{ x: 1 }, { x: 2 }]);
  await expect(migrate(own, [...steps, 'INSERT INTO ~a VALUES (3)', 'BROKEN'])).rejects.toThrow('BROKEN');
  expect((await own.read('SELECT max(x) AS x FROM ~a')).rows).toEqual([{ x: 2 }]);
  await expect(migrate(own, steps.slice(1))).rejects.toThrow('was written by a newer version of Fleetloom');
  await own.write(`DROP SCHEMA ${schema} CASCADE`);
  await own.close();
});

it('[P3] a commit is signalled to other processes, and to its own at once and only once', async () => {
  const [here, there] = [listen(one), listen(two)];
  const fence = await owned(one, 'sesn_p3');
  await commitOne(one, append('sesn_p3', fence, ['a', 'b']));
  const frame = { type: 'frames', sessionId: 'sesn_p3', head: 2 };
  expect(here).toEqual([frame]);
  await commitOne(two, { type: 'submit', sessionId: 'sesn_p3', changes: [enqueue('sevt_1')] });
  await commitOne(one, { type: 'delete', sessionId: 'sesn_p3', fence });
  const all = [frame, { type: 'inputs', sessionId: 'sesn_p3' }, { type: 'deleted', sessionId: 'sesn_p3' }];
  await until(() => there.length >= 3 && here.length >= 3, 'signals');
  const sorted = (signals: Signal[]) => signals.map((signal) => JSON.stringify(signal)).toSorted();
  expect(sorted(here)).toEqual(sorted(all as Signal[]));
  expect(sorted(there)).toEqual(sorted(all as Signal[]));
});

it('[P3] when more has happened than a signal has room for, the others look for themselves', async () => {
  const there = listen(two);
  const count = Math.ceil(storeLimits.databaseSignalBytesMax / 20);
  const ids = Array.from({ length: count }, (_, index) => `sesn_many_${index}`);
  const writes = ids.map(
    (id): Write => ({ type: 'create', session: newSession(id), frames: frames('a'), changes: [] }),
  );
  await one.commit(writes);
  await until(() => new Set(there.map(({ sessionId }) => sessionId)).size >= count, 'signals of all');
  expect(there).toContainEqual({ type: 'frames', sessionId: ids.at(-1), head: 1 });
});

it('[P3] a reader of a log at one process sees what another one appends', async () => {
  const [log, other] = [createLog({ store: one }), createLog({ store: two })];
  const fence = await owned(one, 'sesn_tail');
  const seen: string[] = [];
  const reading = (async () => {
    for await (const entries of other.tail({ sessionId: 'sesn_tail', after: 0 })) seen.push(...show(entries));
  })();
  const expected: string[] = [];
  for (let n = 1; n <= 50; n++) {
    const frame = { threadId: null, turn: null, time: start, type: 'text', payload: { text: `f${n}` } };
    await log.append({ type: 'append', sessionId: 'sesn_tail', fence, frames: [frame], changes: [] });
    expected.push(`${n} f${n}`);
  }
  await until(() => seen.length >= 50, 'all frames');
  expect(seen).toEqual(expected);
  await Promise.all([log.close(), other.close()]);
  await reading;
});

it('[P4] processes that write to the same sessions in any order never stop each other, and seq stays dense', async () => {
  const ids = Array.from({ length: 6 }, (_, index) => `sesn_p4_${index}`);
  const fences = await Promise.all(ids.map((id) => owned(one, id)));
  const rounds = 25;
  const given = (by: string, round: number) => (id: string, index: number) => {
    const thread = { id: `${by}${round}`, parentThreadId: null, status: 'idle' as const, createdAt: start, data: {} };
    const changes = (round + index) % 3 === 0 ? [{ type: 'create_thread' as const, thread }] : [];
    return append(id, fences[index]!, [`${by}${round}`], changes);
  };
  const run = async (store: Store, by: string, isBackward: boolean) => {
    for (let round = 0; round < rounds; round++) {
      const writes = ids.map(given(by, round));
      const outcomes = await store.commit(isBackward ? writes.toReversed() : writes);
      expect(outcomes.every(({ ok }) => ok)).toBe(true);
      const leases = ids.map((sessionId, index) => ({ sessionId, fence: fences[index]! }));
      expect(await store.leases.renew({ owner: 'node-1', ttlMs: 60_000, leases: leases.toReversed() })).toEqual([]);
    }
  };
  await Promise.all([run(one, 'a', false), run(two, 'b', true), run(opened[2]!, 'c', false)]);
  for (const id of ids) {
    const seen = show(await readAll(two, id)).map((line) => line.split(' '));
    expect(seen.map(([seq]) => Number(seq))).toEqual(Array.from({ length: 3 * rounds }, (_, index) => index + 1));
    for (const by of ['a', 'b', 'c']) {
      const mine = seen.map(([, text]) => text!).filter((text) => text.startsWith(by));
      expect(mine).toEqual(Array.from({ length: rounds }, (_, index) => `${by}${index}`));
    }
  }
});

it('[P5] of processes that acquire the same session, key, document, work item or approval at the same moment one succeeds', async () => {
  const each = <Answer>(run: (store: Store, index: number) => Promise<Answer>) => Promise.all(opened.map(run));
  const creates = await each((store) => codeOf(commitOne(store, create('sesn_p5'))));
  expect(creates.toSorted()).toEqual(['already_exists', 'already_exists', 'already_exists', 'ok']);
  const leases = await each((store, index) =>
    store.leases.acquire({ sessionId: 'sesn_p5', owner: `node-${index}`, ttlMs: 60_000 }),
  );
  expect(leases.filter(({ ok }) => ok)).toHaveLength(1);
  const winner = leases.find(({ ok }) => ok);
  const fence = winner?.ok === true ? winner.fence : 0;
  const ask = { type: 'create_approval', approval: { id: 'ask', threadId: 't', createdAt: start, data: {} } } as const;
  const work = { type: 'enqueue_work', work: { id: 'work_p5', createdAt: start, data: {} } } as const;
  await commitOne(one, append('sesn_p5', fence, [], [ask, work]));
  const answers = await each((store, index) => {
    const answer = { type: 'resolve_approval', approvalId: 'ask', time: start, data: { index } } as const;
    const changes = [answer, enqueue(`answer ${index}`)];
    return codeOf(commitOne(store, { type: 'submit', sessionId: 'sesn_p5', changes }));
  });
  expect(answers.toSorted()).toEqual(['already_resolved', 'already_resolved', 'already_resolved', 'ok']);
  expect(await one.inputs.peek('sesn_p5', 9)).toHaveLength(1);
  const keys = await each((store, index) =>
    store.keys.putIfAbsent({ workspaceId: 'w1', key: 'p5', expiresAt: Date.now() + 60_000, result: { index } }),
  );
  expect(keys.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(new Set(keys.map(({ record }) => record.result['index'])).size).toBe(1);
  const put = { type: 'put_key', key: { key: 'p5 sent', expiresAt: Date.now() + 60_000, result: {} } } as const;
  const sent = await each((store, index) =>
    codeOf(commitOne(store, { type: 'submit', sessionId: 'sesn_p5', changes: [enqueue(`sent ${index}`), put] })),
  );
  expect(sent.toSorted()).toEqual(['key_taken', 'key_taken', 'key_taken', 'ok']);
  const documents = await each((store, index) =>
    codeOf(store.documents.put({ kind: 'p5', id: 'a', data: { index }, ifRevision: 0 })),
  );
  expect(documents.filter((code) => code === 'ok')).toHaveLength(1);
  const claims = await each((store) =>
    store.works.claim({ workspaceId: 'w1', environmentId: 'env_1', reclaimMs: 60_000 }),
  );
  expect(claims.filter((claimed) => claimed !== undefined).map(({ id }) => id)).toEqual(['work_p5']);
});

it('[P5] a later process finds what the first one has created, and no process waits for work that another one takes', async () => {
  const [held, gate] = [createGate(), createGate()];
  onTestFinished(gate.open);
  await commitOne(one, create('sesn_busy'));
  for (const [index, id] of ['work_a', 'work_b'].entries()) {
    const session = newSession(`sesn_${id}`, { environmentId: 'env_p5' });
    const work = { type: 'enqueue_work', work: { id, createdAt: start + index, data: {} } } as const;
    await commitOne(one, { type: 'create', session, frames: [], changes: [work] });
  }
  const first = database.transaction(async (connection) => {
    const copy = `SELECT 7, 'sesn_moment', workspace_id, agent_id, agent_version, environment_id, status, revision,
      created_at, updated_at, archived_at, data FROM ~sessions WHERE id = 'sesn_busy'`;
    await connection.query(`INSERT INTO ~sessions ${copy}`);
    await connection.query("INSERT INTO ~logs (session_key, session_id) VALUES (7, 'sesn_moment')");
    await connection.query("UPDATE ~works SET claimed_at = @now WHERE id = 'work_a'");
    held.open();
    await gate.opened;
  });
  await held.opened;
  const claimed = await two.works.claim({ workspaceId: 'w1', environmentId: 'env_p5', reclaimMs: 60_000 });
  expect(claimed?.id).toBe('work_b');
  const second = codeOf(commitOne(one, create('sesn_moment')));
  await until(async () => {
    const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`;
    return (await database.read(sql, [`INSERT INTO ${place.schema}.sessions%`])).count > 0;
  }, 'the second one waits');
  gate.open();
  await first;
  expect(await second).toBe('already_exists');
});

it('[P6] leases, documents and work go by the clock of the database, whatever the process thinks', async () => {
  const { rows } = await database.read<{ now: number }>('SELECT @now AS now');
  const before = rows[0]!.now;
  await commitOne(one, create('sesn_p6'));
  const acquired = await one.leases.acquire({ sessionId: 'sesn_p6', owner: 'a', ttlMs: 60_000 });
  const { updatedAt } = await two.documents.put({ kind: 'p6', id: 'a', data: {} });
  const after = await two.now();
  const times = [acquired.expiresAt - 60_000, updatedAt, after];
  for (const time of times) expect(time).toBeGreaterThanOrEqual(before);
  for (const time of times) expect(time).toBeLessThanOrEqual(after);
  const away = await openPostgresStore({ ...place, clock: { now: () => after + 60_001, steady: () => 0 } });
  expect(await two.leases.acquire({ sessionId: 'sesn_p6', owner: 'b', ttlMs: 1 })).toMatchObject({ ok: false });
  // A database whose clock is a minute further on.
  expect(await away.leases.acquire({ sessionId: 'sesn_p6', owner: 'b', ttlMs: 1 })).toMatchObject({ ok: true });
  await away.close();
});
