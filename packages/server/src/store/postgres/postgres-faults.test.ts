import { afterAll, expect, it, onTestFinished } from 'vitest';
import { ownPostgres, testDatabase } from '../../../../../test/support/postgres.ts';
import { createManualClock } from '../../base/clock.ts';
import { storeLimits } from '../limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import type { Signal, Store } from '../store.ts';
import { append, codeOf, enqueue, owned, readAll, show, start } from '../suite/samples.suite.ts';
import { commitOne, type Outcome } from '../write.ts';
import { Database } from './database.ts';
import { openPostgresStore, type PostgresOptions } from './postgres-store.ts';
import { openProxy, type Proxy } from './suite/proxy.suite.ts';
import { until } from './suite/until.suite.ts';

const place = await testDatabase();
/** The name by which the connections of these tests are known among those of others. */
const url = new URL(place.url);
url.searchParams.set('application_name', place.schema);
const database = await Database.open(place);
const steady = await openPostgresStore(place);
const proxy = await openProxy(place.url);
const shaky = await openPostgresStore({ ...place, url: proxy.url });
afterAll(async () => {
  await Promise.all([steady.close(), shaky.close()]);
  await database.close();
  proxy.close();
});

async function open(options: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ ...place, url: url.href, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Ends what the tests have open at the database. */
async function killBackends(): Promise<number> {
  const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1';
  return (await database.write(sql, [place.schema])).count;
}

it('[P7] when connections are killed during commits, acknowledged writes exist once, and no others', async () => {
  const store = await open();
  const ids = Array.from({ length: 4 }, (_, index) => `sesn_p7_${index}`);
  const fences = await Promise.all(ids.map((id) => owned(steady, id)));
  const acknowledged = ids.map((): string[] => []);
  const rounds = 24;
  const progress = { done: 0 };
  // At any moment of a commit, but not so often that none can go through.
  const killing = (async () => {
    let kills = 0;
    for (let seen = 0; progress.done < rounds; seen = progress.done) {
      await until(() => progress.done > seen, 'the next commit');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
      kills += await killBackends();
    }
    return kills;
  })();
  onTestFinished(() => {
    progress.done = rounds;
  });
  for (let round = 0; round < rounds; round++) {
    const thread = { id: `t${round}`, parentThreadId: null, status: 'idle' as const, createdAt: start, data: {} };
    const changes = round % 2 === 0 ? [] : [{ type: 'create_thread' as const, thread }];
    const outcomes = await store.commit(ids.map((id, index) => append(id, fences[index]!, [`r${round}`], changes)));
    for (const [index, outcome] of outcomes.entries()) {
      expect(outcome).toEqual({ ok: true, firstSeq: round + 1, lastSeq: round + 1 });
      acknowledged[index]!.push(`${round + 1} r${round}`);
    }
    progress.done++;
  }
  expect(await killing).toBeGreaterThan(3);
  for (const [index, id] of ids.entries()) expect(show(await readAll(steady, id))).toEqual(acknowledged[index]);
  expect((await steady.threads.list({ sessionId: ids[0]!, limit: 99 })).items).toHaveLength(rounds / 2);
});

const kinds = [
  { kind: 'frames alone', changes: [], request: 'append_frames', answer: 'SELECT ' },
  { kind: 'records too', changes: [enqueue('sevt_1')], request: 'COMMIT', answer: 'COMMIT' },
];

it.each(kinds)('[P8] a commit ($kind) whose answer is lost is reported with its real outcome', async (given) => {
  const sessionId = `sesn_p8 ${given.kind}`;
  const fence = await owned(steady, sessionId);
  const stale = `${sessionId} stale`;
  await owned(steady, stale);
  const before = proxy.cuts;
  proxy.loseAnswer(given.request, given.answer);
  const outcomes = await shaky.commit([
    append(sessionId, fence, ['a', 'b'], given.changes),
    append(stale, 99, ['c']),
    append('sesn_none', 1, ['d']),
    append(sessionId, fence, ['e']),
  ]);
  expect(outcomes.map(toCode)).toEqual(['1-2', 'stale_owner', 'not_found', '3-3']);
  expect(proxy.cuts).toBe(before + 1);
  expect(show(await readAll(steady, sessionId))).toEqual(['1 a', '2 b', '3 e']);
  expect(await steady.inputs.peek(sessionId, 9)).toHaveLength(given.changes.length);
  expect(await commitOne(shaky, append(sessionId, fence, ['f']))).toEqual({ firstSeq: 4, lastSeq: 4 });
});

it('[P8] a commit that the database reads after its sender has given up has no effect', async () => {
  const fence = await owned(steady, 'sesn_late');
  const arrive = proxy.delay('append_frames');
  expect(await commitOne(shaky, append('sesn_late', fence, ['a']))).toEqual({ firstSeq: 1, lastSeq: 1 });
  await arrive();
  expect(show(await readAll(steady, 'sesn_late'))).toEqual(['1 a']);
});

it('[P8] a commit that is still running when its sender asks for its outcome is waited for, and applied once', async () => {
  const fence = await owned(steady, 'sesn_going_on');
  const arrive = proxy.delay('COMMIT');
  const committed = commitOne(shaky, append('sesn_going_on', fence, ['a'], [enqueue('sevt_1')]));
  await until(async () => (await waitsFor('~commits ')) > 0, 'a process asks');
  await arrive();
  expect(await committed).toEqual({ firstSeq: 1, lastSeq: 1 });
  expect(show(await readAll(steady, 'sesn_going_on'))).toEqual(['1 a']);
  expect(await steady.inputs.peek('sesn_going_on', 9)).toHaveLength(1);
});

it('[P9] a listener receives a wake-up after its connection has broken, also for changes in the meantime', async () => {
  const own = await openProxy(place.url);
  onTestFinished(() => own.close());
  const store = await open({ listenUrl: own.url });
  const [heard, witness]: [Signal[], Signal[]] = [[], []];
  store.subscribe((signals) => heard.push(...signals));
  shaky.subscribe((signals) => witness.push(...signals));
  const hears = (list: Signal[], signal: Signal) =>
    until(() => list.some((each) => JSON.stringify(each) === JSON.stringify(signal)), JSON.stringify(signal));
  const frame = (head: number) => ({ type: 'frames' as const, sessionId: 'sesn_p9', head });
  const fence = await owned(steady, 'sesn_p9');
  own.shut();
  own.cut();
  await commitOne(steady, append('sesn_p9', fence, ['a'], [enqueue('sevt_1')]));
  await hears(witness, frame(1));
  expect(heard).toEqual([]);
  own.open();
  await hears(heard, frame(1));
  await hears(heard, { type: 'inputs', sessionId: 'sesn_p9' });
  await commitOne(steady, append('sesn_p9', fence, ['b']));
  await hears(heard, frame(2));
});

it('[P9] a connection that is dead without notice is detected by a query, and replaced', async () => {
  const own = await openProxy(place.url);
  onTestFinished(() => own.close());
  const { schedule, advance } = createManualSchedule(createManualClock());
  const store = await open({ listenUrl: own.url, schedule });
  const heard: Signal[] = [];
  store.subscribe((signals) => heard.push(...signals));
  own.freeze();
  const fence = await owned(steady, 'sesn_dead');
  await commitOne(steady, append('sesn_dead', fence, ['a']));
  advance(storeLimits.databaseListenCheckMs);
  advance(storeLimits.databaseConnectMs - 1);
  expect(heard).toEqual([]);
  advance(1);
  await until(() => heard.some(({ sessionId }) => sessionId === 'sesn_dead'), 'a change in the meantime');
});

it('[P112] a database whose notifications do not arrive is rejected at start with the option to use, and accepted with a direct address for them', async () => {
  const pooler = await openProxy(place.url, { dropsNotifications: true });
  onTestFinished(() => pooler.close());
  const choice = { ...place, url: pooler.url, checksSignals: true };
  const startedAt = performance.now();
  await expect(openPostgresStore(choice)).rejects.toMatchObject({
    code: 'no_signals',
    message: expect.stringContaining('--database-listen or FLEETLOOM_DATABASE_LISTEN'),
  });
  const waitedMs = performance.now() - startedAt;
  expect(waitedMs).toBeGreaterThan(0.9 * storeLimits.databaseProbesMax * storeLimits.databaseProbeMs);
  // Programs that only write keys do not need notifications.
  await (await openPostgresStore({ ...choice, checksSignals: false })).close();
  const store = await openPostgresStore({ ...choice, listenUrl: place.url });
  const heard: Signal[] = [];
  store.subscribe((signals) => heard.push(...signals));
  await commitOne(steady, append('sesn_p112', await owned(steady, 'sesn_p112'), ['a']));
  await until(() => heard.some(({ sessionId }) => sessionId === 'sesn_p112'), 'a signal past the pooler');
  await store.close();
});

it('[P10] commits and reads wait for a database that restarts or crashes, and then continue', async () => {
  const postgres = await ownPostgres();
  const store = await openPostgresStore({ url: postgres.url });
  const fence = await owned(store, 'sesn_p10');
  const heard: Signal[] = [];
  const other = await openPostgresStore({ url: postgres.url });
  other.subscribe((signals) => heard.push(...signals));
  let written = 0;
  const restart = { isOver: false };
  const restarted = postgres.restart('immediate').then(() => {
    restart.isOver = true;
  });
  while (!restart.isOver) {
    written++;
    const appended = await commitOne(store, append('sesn_p10', fence, [`f${written}`]));
    expect(appended).toEqual({ firstSeq: written, lastSeq: written });
    expect((await other.heads(['sesn_p10'])).get('sesn_p10')).toBe(written);
  }
  await restarted;
  const expected = Array.from({ length: written }, (_, index) => `${index + 1} f${index + 1}`);
  expect(show(await readAll(other, 'sesn_p10'))).toEqual(expected);
  await commitOne(store, append('sesn_p10', fence, ['last']));
  const last = { type: 'frames', sessionId: 'sesn_p10', head: written + 1 };
  await until(() => heard.some((signal) => JSON.stringify(signal) === JSON.stringify(last)), 'signals come again');
  await Promise.all([store.close(), other.close()]);

  const hasty = await openPostgresStore({ url: postgres.url, patienceMs: 100 });
  await postgres.halt();
  // What was not sent fails when the patience is over, and nothing of it comes later.
  const failed = await hasty.commit([append('sesn_p10', fence, ['ghost'])]).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'store_failed', kind: 'retryable' });
  expect(await codeOf(hasty.heads(['sesn_p10']))).toBe('store_failed');
  expect(await codeOf(hasty.documents.put({ kind: 'a', id: 'b', data: {} }))).toBe('store_failed');
  await postgres.resume();
  expect((await hasty.heads(['sesn_p10'])).get('sesn_p10')).toBe(written + 1);
  expect(await commitOne(hasty, append('sesn_p10', fence, ['again']))).toMatchObject({ firstSeq: written + 2 });
  await hasty.close();
});

it('[P10] a store that is closed while the outcome of a commit is unknown reports that', async () => {
  const own = await openProxy(place.url);
  const store = await openPostgresStore({ ...place, url: own.url });
  const fence = await owned(steady, 'sesn_closed');
  const commit = codeOf(commitOne(store, append('sesn_closed', fence, ['a'])));
  await commit;
  losing(own);
  const lost = commitOne(store, append('sesn_closed', fence, ['b'])).catch((error: unknown) => error);
  await until(() => own.cuts > 0, 'the answer is lost');
  await store.close();
  expect(await lost).toMatchObject({ code: 'store_failed' });
});

/** The answer is lost, and the way is not opened again. */
function losing(own: Proxy): void {
  own.loseAnswer('append_frames', 'SELECT ');
  own.shut();
}

function toCode(outcome: Outcome): string {
  return outcome.ok ? `${outcome.firstSeq}-${outcome.lastSeq}` : outcome.error.code;
}

/** Statements with this text that wait for a lock. */
async function waitsFor(text: string): Promise<number> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND position($1 IN query) > 0`;
  return (await database.read(sql, [text.replace('~', `${place.schema}.`)])).count;
}

it('[P76] a process that is signalled to poll while the database is unreachable polls once it is reachable', async () => {
  const way = await openProxy(place.url);
  onTestFinished(() => way.close());
  const fence = await owned(steady, 'sesn_p76');
  await commitOne(steady, append('sesn_p76', fence, ['a']));
  // The signal arrives on a working connection, and the poll uses one that is cut.
  const store = await open({ url: way.url, listenUrl: place.url, patienceMs: 50 });
  const heard: Signal[] = [];
  store.subscribe((signals) => heard.push(...signals));
  way.shut();
  way.cut();
  const listening = async () => {
    const sql = 'SELECT pid FROM pg_stat_activity WHERE query = $1';
    return (await database.read<{ pid: number }>(sql, [`LISTEN ${place.schema}`])).rows.map(({ pid }) => pid);
  };
  const before = await listening();
  // Too much has happened for one signal.
  await database.write("SELECT pg_notify($1, 'look')", [place.schema]);
  await until(async () => (await listening()).some((pid) => !before.includes(pid)), 'it listens again');
  expect(heard.filter(({ sessionId }) => sessionId === 'sesn_p76')).toEqual([]);
  way.open();
  await until(() => heard.some(({ sessionId }) => sessionId === 'sesn_p76'), 'it has looked');
});
