import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { storeSuite } from '../store.suite.ts';
import { openSqliteStore } from './sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetloom-store-'));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
storeSuite('sqlite', ({ clock }) => openSqliteStore({ path: join(folder, `${count++}.db`), clock }));
