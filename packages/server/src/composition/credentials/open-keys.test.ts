import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openKeys } from './open-keys.ts';

it('[ID43] commands that create keys of a new data directory at the same time keep the keys of each other', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-open-keys-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }));
  const create = async (name: string) => {
    const { keys, close } = await openKeys({ dataDirectory });
    const { secret } = await keys.create({ kind: 'api', name });
    await close();
    return secret;
  };
  const names = Array.from({ length: 8 }, (_, index) => `key ${index}`);
  const secrets = await Promise.all(names.map(create));
  const { keys, close } = await openKeys({ dataDirectory });
  expect((await keys.list()).map(({ name }) => name).toSorted()).toEqual(names);
  for (const secret of secrets) expect(await keys.find(secret)).toBeDefined();
  await close();
});
