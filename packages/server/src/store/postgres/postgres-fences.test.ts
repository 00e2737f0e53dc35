import { afterAll, expect, it } from 'vitest';
import { testDatabase } from '../../../../../test/support/postgres.ts';
import { encodeSegment } from '../entries.ts';
import { encodeFrame, type NewFrame } from '../frame.ts';
import type { Store } from '../store.ts';
import {
  append,
  codeOf,
  create,
  frames,
  newSession,
  readAll,
  sampleFrame,
  show,
  start,
} from '../suite/samples.suite.ts';
import { commitOne } from '../write.ts';
import { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { createPostgresStore, openPostgresStore } from './postgres-store.ts';
import { Segments } from './segments.ts';
import { STEPS } from './steps.ts';

const place = await testDatabase();
const database = await Database.open(place);
const [one, two] = await Promise.all([openPostgresStore(place), openPostgresStore(place)]);
afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await database.close();
});

/** Each row of a log as `first-last fence`. */
async function rowsOf(sessionId: string, of = database): Promise<string[]> {
  const sql = `SELECT s.first_seq || '-' || s.last_seq || ' ' || s.fence AS row FROM ~segments s
    JOIN ~logs l ON l.session_key = s.session_key WHERE l.session_id = $1 ORDER BY s.first_seq`;
  return (await of.read<{ row: string }>(sql, [sessionId])).rows.map(({ row }) => row);
}

/** The previous owner has lost the session: its lease ends at once. */
async function take(store: Store, sessionId: string, owner: string): Promise<number> {
  const acquired = await store.leases.acquire({ sessionId, owner, ttlMs: 0 });
  if (!acquired.ok) throw new Error(`${acquired.owner} has it`);
  return acquired.fence;
}

it('[P70] each row of a log has the fence with which it was written, before and after rows are put together and pruned', async () => {
  const id = 'sesn_p70';
  await commitOne(one, { type: 'create', session: newSession(id), frames: frames('made'), changes: [] });
  const old = await take(one, id, 'old');
  const thread = { id: 'sthr_1', parentThreadId: null, status: 'idle' as const, createdAt: start, data: {} };
  await commitOne(one, append(id, old, ['a', 'b']));
  // With a record it is another way to write.
  await commitOne(one, append(id, old, ['c'], [{ type: 'create_thread', thread }]));
  const fresh = await take(two, id, 'new');
  expect(await codeOf(commitOne(one, append(id, old, ['late'])))).toBe('stale_owner');
  await commitOne(two, append(id, fresh, ['d']));
  await commitOne(two, append(id, fresh, ['e']));
  expect([old, fresh]).toEqual([1, 2]);
  expect(await rowsOf(id)).toEqual(['1-1 0', '2-3 1', '4-4 1', '5-5 2', '6-6 2']);

  await new Segments(database).mergeRows(id);
  expect(await rowsOf(id)).toEqual(['1-1 0', '2-4 1', '5-6 2']);
  await commitOne(two, append(id, fresh, ['f']));
  // Behind a row that is put together already, and over the border between two owners.
  await two.prune(id, [{ firstSeq: 3, lastSeq: 5 }]);
  expect(await rowsOf(id)).toEqual(['1-1 0', '2-4 1', '5-6 2', '7-7 2']);
  await two.prune(id, [{ firstSeq: 2, lastSeq: 7 }]);
  expect(await rowsOf(id)).toEqual(['1-1 0', '2-4 1', '5-7 2']);
  expect(show(await readAll(one, id))).toEqual(['1 made', '2-7']);
  expect(await commitOne(two, append(id, fresh, ['g']))).toEqual({ firstSeq: 8, lastSeq: 8 });
});

/** A node of the version before appends a frame: this is the function that it calls. */
async function appendAsBefore(of: Database, sessionId: string, fence: number, given: NewFrame): Promise<void> {
  const data = encodeSegment([encodeFrame(given)]);
  const sql = `SELECT head FROM ~append_frames(ARRAY[$1], ARRAY[$2::int8], ARRAY[1::int8], ARRAY[1], ARRAY[1::int8],
    ARRAY[1::int8], ARRAY[1], ARRAY[octet_length($3::bytea)], $3::bytea, @now, NULL, NULL, NULL)`;
  await of.write(sql, [sessionId, fence, data]);
}

it('[P71] a database of the previous version works while its nodes are replaced, and its old rows have the fence 0', async () => {
  const before = { url: place.url, schema: `${place.schema}_p71` };
  const own = await Database.open(before);
  await migrate(own, STEPS.slice(0, 1));
  const oldNode = await createPostgresStore(await Database.open(before));
  await commitOne(oldNode, create('sesn_p71'));
  const old = await take(oldNode, 'sesn_p71', 'old');
  for (const text of ['a', 'b']) await appendAsBefore(own, 'sesn_p71', old, sampleFrame(text));

  const newNode = await openPostgresStore(before);
  expect(await rowsOf('sesn_p71', own)).toEqual(['1-1 0', '2-2 0']);
  // It was connected all the time, and knows nothing of the other form.
  await appendAsBefore(own, 'sesn_p71', old, sampleFrame('c'));
  const fresh = await take(newNode, 'sesn_p71', 'new');
  await commitOne(newNode, append('sesn_p71', fresh, ['d']));
  await new Segments(own).mergeRows('sesn_p71');
  expect(await rowsOf('sesn_p71', own)).toEqual(['1-2 0', '3-3 1', '4-4 2']);
  expect(show(await readAll(newNode, 'sesn_p71'))).toEqual(['1 a', '2 b', '3 c', '4 d']);
  await Promise.all([oldNode.close(), newNode.close()]);
  await own.write(`DROP SCHEMA ${before.schema} CASCADE`);
  await own.close();
});

it('[P110] the index finds runs written by a node of the previous version', async () => {
  const before = { url: place.url, schema: `${place.schema}_p110` };
  const own = await Database.open(before);
  await migrate(own, STEPS.slice(0, 2));
  const oldNode = await createPostgresStore(await Database.open(before));
  const run = (id: string) => ({
    id,
    started_at: start,
    ended_at: null,
    state: 'running',
    agent_name: 'a',
    message: '',
  });
  await commitOne(oldNode, create('sesn_p110', { data: { run: run('req_1') } }));
  const fence = await take(oldNode, 'sesn_p110', 'old');
  const write = (type: string, name: string) => {
    const turn = { streamId: 0, depth: 0, run: name };
    return appendAsBefore(own, 'sesn_p110', fence, sampleFrame('', { type, turn }));
  };
  await write('run.started', 'req_1');
  const newNode = await openPostgresStore(before);
  const open = await newNode.runs.list({ workspaceId: 'w1', isOpen: true, limit: 9 });
  expect(open.items).toMatchObject([{ sessionId: 'sesn_p110', id: 'req_1', firstSeq: 1, lastSeq: null }]);
  // The index is whole now, and the node of the version before still writes.
  await write('run.ended', 'req_1');
  await write('run.started', 'req_2');
  expect(await newNode.runs.findAt('sesn_p110', 2)).toMatchObject({ id: 'req_1', firstSeq: 1, lastSeq: 2 });
  expect(await newNode.runs.findAt('sesn_p110', 3)).toMatchObject({ id: 'req_2', firstSeq: 3, lastSeq: null });
  await Promise.all([oldNode.close(), newNode.close()]);
  await own.write(`DROP SCHEMA ${before.schema} CASCADE`);
  await own.close();
});
