import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { AUDIT_OUTBOX, createOutboxReader, writeToOutbox } from './audit-outbox.ts';

async function open() {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-outbox-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }));
  const store = createMemoryStore();
  const problems: string[] = [];
  const take = createOutboxReader(dataDirectory, store, (problem) => problems.push(String(problem)));
  const readLog = () => store.audit.list({ workspaceId: 'w', after: 0, limit: 10 });
  return { dataDirectory, outbox: join(dataDirectory, AUDIT_OUTBOX), problems, take, readLog };
}

it('[ID44] a file of the outbox that cannot be read is reported once, and the entries behind it are recorded', async () => {
  const { dataDirectory, outbox, problems, take, readLog } = await open();
  // A directory cannot be read as a file by any user, also not by root.
  await mkdir(join(outbox, '000-unreadable.json'), { recursive: true });
  await writeToOutbox(dataDirectory, { workspaceId: 'w', data: { action: 'key.created' } });
  await take();
  await take();
  expect((await readLog()).map(({ data }) => data)).toEqual([{ action: 'key.created' }]);
  expect(problems).toEqual([expect.stringMatching(/000-unreadable\.json is not in the audit log yet: .*EISDIR/)]);
  expect(await readdir(outbox)).toEqual(['000-unreadable.json']);
});

it('[ID44] an outbox that cannot be listed is reported once, and one that does not exist is empty', async () => {
  const { outbox, problems, take } = await open();
  await take();
  expect(problems).toEqual([]);
  await writeFile(outbox, 'a file');
  await take();
  await take();
  expect(problems).toEqual([expect.stringMatching(/audit-outbox is not in the audit log yet: .*ENOTDIR/)]);
});
