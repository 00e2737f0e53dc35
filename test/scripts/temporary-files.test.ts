import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openTemporaryFiles } from '../../scripts/support/temporary-files.mjs';

it('[G43] temporary files of tests are in memory if there is room for them, otherwise on disk, and are removed', () => {
  const memory = mkdtempSync(join(tmpdir(), 'fleetloom-memory-'));
  const { bavail, bsize } = statfsSync(memory);
  const files = openTemporaryFiles(memory);
  expect(dirname(files.path)).toBe(bavail * bsize >= 4 * 2 ** 30 ? memory : tmpdir());
  writeFileSync(join(files.path, 'file'), '');
  files.remove();
  expect(existsSync(files.path)).toBe(false);
  rmSync(memory, { recursive: true });
  // Neither a missing directory nor one without room is used.
  for (const without of [memory, '/proc']) {
    const elsewhere = openTemporaryFiles(without);
    expect(dirname(elsewhere.path)).toBe(tmpdir());
    elsewhere.remove();
  }
});
