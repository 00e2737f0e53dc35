import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startOn } from '../server.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { lockDataDirectory } from './lock-data-directory.ts';

it('[P111] the data directory of a node is locked until it is closed, and names the instances that had it before', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-lock-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const refused = {
    code: 'node_in_use',
    message: expect.stringMatching(/data directory .*fleetloom-lock-.*: stop that process, or .* --data$/),
  };
  const lock = await lockDataDirectory(directory);
  expect(lock.formerHolders).toEqual([]);
  await lock.note('one');
  await expect(lockDataDirectory(directory)).rejects.toMatchObject(refused);
  lock.close();

  const options = { dataDirectory: directory, secret: 'a secret of more than 32 characters' };
  const server = await startOn(options, createMemoryStore(), true);
  await expect(startOn(options, createMemoryStore(), true)).rejects.toMatchObject(refused);
  await server.close();
  const after = await lockDataDirectory(directory);
  expect(after.formerHolders).toHaveLength(1);
  expect(after.formerHolders).not.toContain('one');
  after.close();
});
