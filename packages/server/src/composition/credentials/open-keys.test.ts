import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openKeys } from './open-keys.ts';

/** What the next command waits for before it stores its first key. */
let gate: Promise<void> | undefined;
vi.mock('../audit/audit-outbox.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../audit/audit-outbox.ts')>();
  const writeToOutbox: typeof original.writeToOutbox = async (...entry) => {
    const opened = gate;
    gate = undefined;
    await opened;
    await original.writeToOutbox(...entry);
  };
  return { ...original, writeToOutbox };
});

it('[ID43] commands that create keys of a new data directory at the same time keep the keys of each other', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-open-keys-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }));
  const create = async (name: string) => {
    const { keys, close } = await openKeys({ dataDirectory });
    const { secret } = await keys.create({ kind: 'api', name });
    await close();
    return secret;
  };
  let open!: () => void;
  gate = new Promise<void>((resolve) => (open = resolve));
  const slow = create('slow');
  await vi.waitFor(() => expect(gate).toBeUndefined());
  const secrets = [await create('fast')];
  open();
  secrets.push(await slow);
  const { keys, close } = await openKeys({ dataDirectory });
  expect((await keys.list()).map(({ name }) => name).toSorted()).toEqual(['fast', 'slow']);
  for (const secret of secrets) expect(await keys.find(secret)).toBeDefined();
  await close();
});
