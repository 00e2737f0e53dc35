import { afterAll } from 'vitest';
import { testDatabase } from '../../../../../test/support/postgres.ts';
import { storeSuite } from '../store.suite.ts';
import { Database } from './database.ts';
import { openPostgresStore } from './postgres-store.ts';

const place = await testDatabase();
const tables = ['agents', 'environments', 'sessions', 'segments', 'idempotency_keys', 'documents', 'blobs'];
await (await openPostgresStore(place)).close();
const database = await Database.open(place);
afterAll(() => database.close());

// Tables are emptied rather than created again, which takes a tenth of the time.
storeSuite('postgres', async ({ clock }) => {
  await database.write(tables.map((table) => `DELETE FROM ~${table}`).join(';'));
  return openPostgresStore({ ...place, clock });
});
