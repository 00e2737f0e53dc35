import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { openMasterKey } from './master-key.ts';

const names = ['sesn_1', 'sesrsc_1'];

it('[WS188] the master key is a file with mode 0600 that is created once, and a broken one is not replaced', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-master-key-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'master-key');
  const sealed = (await openMasterKey({ file })).seal('ghp_canary', names);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await openMasterKey({ file })).open(sealed, names)).toBe('ghp_canary');
  writeFileSync(file, 'broken');
  await expect(openMasterKey({ file })).rejects.toThrow('restore it from a backup');
});

it('[WS188] nodes of a database share a master key that only their secret opens', async () => {
  const store = createMemoryStore();
  const secret = 's'.repeat(32);
  const [one, two] = await Promise.all([openMasterKey({ store, secret }), openMasterKey({ store, secret })]);
  expect(two.open(one.seal('ghp_canary', names), names)).toBe('ghp_canary');
  await expect(openMasterKey({ store, secret: 't'.repeat(32) })).rejects.toThrow('FLEETLOOM_SECRET is not the one');
});
