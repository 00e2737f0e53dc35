import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import type { Store } from '../../store/store.ts';

/** Opens a store for one test. */
export type OpenStore = (clock?: Clock) => Promise<Store>;

/** The same tests on each kind of store. It lives as long as the test. */
export function onEachStore(run: (openStore: OpenStore) => void): void {
  describe.each<[string, OpenStore]>([
    ['memory', openMemory],
    ['SQLite', openSqlite],
  ])('on %s', (_, openStore) => run(openStore));
}

/** Opens a memory store. */
export const openMemory: OpenStore = async (clock = systemClock) => createMemoryStore({ clock });

const openSqlite: OpenStore = async (clock = systemClock) => {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-store-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return openSqliteStore({ path: join(folder, 'fleet.db'), clock });
};
