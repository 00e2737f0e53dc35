import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { create, newSession, start } from '../suite/samples.suite.ts';
import { commitOne, type SubmitChange } from '../write.ts';
import { Database } from './database.ts';
import { openSqliteStore } from './sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetloom-works-'));
afterAll(() => rmSync(folder, { recursive: true }));

const queue = { workspaceId: 'w1', environmentId: 'env_1' };
const work: SubmitChange = { type: 'enqueue_work', work: { id: 'work_1', createdAt: start, data: {} } };

it('[W3] a file without a work queue gets one when it is opened, and keeps its data', async () => {
  const path = join(folder, 'old.db');
  const first = await openSqliteStore({ path });
  await commitOne(first, create('sesn_1'));
  await first.close();
  const database = await Database.open(path);
  const later = ['works', 'documents', 'blob_parts', 'blobs', 'audit_entries', 'audit_chains'];
  const indexes = ['summaries', 'runs', 'event_segments', 'unindexed', 'checkpoints', 'prunes'];
  for (const table of [...later, ...indexes]) database.exec(`DROP TABLE ${table}`);
  database.exec('DROP INDEX approvals_pending; DELETE FROM migrations WHERE version >= 2');
  database.close();
  const second = await openSqliteStore({ path });
  expect(await second.sessions.get('w1', 'sesn_1')).toMatchObject(newSession('sesn_1'));
  await commitOne(second, { type: 'submit', sessionId: 'sesn_1', changes: [work] });
  expect(await second.works.claim({ ...queue, reclaimMs: 0 })).toMatchObject({ id: 'work_1' });
  await second.close();
});

it('[W3] a reopened file has every item unchanged, and the leases of workers stay valid', async () => {
  const path = join(folder, 'again.db');
  const clock = createManualClock(start);
  const first = await openSqliteStore({ path, clock });
  await commitOne(first, { type: 'create', session: newSession('sesn_1'), frames: [], changes: [work] });
  const { revision } = (await first.works.claim({ ...queue, reclaimMs: 0 }))!;
  const change = { workspaceId: 'w1', id: 'work_1', ifRevision: revision, state: 'active', leaseMs: 1_000 } as const;
  const held = await first.works.update(change);
  await first.close();
  const second = await openSqliteStore({ path, clock });
  expect(await second.works.get('w1', 'work_1')).toEqual(held);
  expect(await second.works.claim({ ...queue, reclaimMs: 0 })).toBeUndefined();
  clock.advance(1_000);
  expect(await second.works.claim({ ...queue, reclaimMs: 0 })).toMatchObject({ id: 'work_1', state: 'queued' });
  await second.close();
});
