import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EPOLL_WATCH_BYTES, raiseEpollWatches } from './raise-epoll-watches.ts';

it('[U156] a root server raises the epoll watches of its user to more than fit into memory, and never lowers them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-epoll-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'max_user_watches');
  const raised = (before: number, isRoot: boolean): number => {
    writeFileSync(file, `${before}\n`);
    raiseEpollWatches(file, { isRoot, memoryBytes: 1_000 * EPOLL_WATCH_BYTES });
    return Number(readFileSync(file, 'utf8'));
  };
  expect([raised(999, true), raised(1_000, true), raised(5_000, true)]).toEqual([1_000, 1_000, 5_000]);
  expect(raised(999, false)).toBe(999);
  expect(() => raiseEpollWatches(join(folder, 'none'), { isRoot: true })).not.toThrow();
});
