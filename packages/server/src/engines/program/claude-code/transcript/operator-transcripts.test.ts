import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { toProjectName } from '../launch/copy-conversation.ts';
import { createOperatorTranscripts } from './operator-transcripts.ts';

it("[J286] only files of recorded conversations in the session's own folder are deleted, and a record that names no conversation deletes nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-operator-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const projects = join(folder, 'projects');
  const directory = await realpath(folder);
  const place = { projects, directory };
  const own = toProjectName(directory);
  const [first, second, other] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
  for (const id of [first, second, other]) {
    await mkdir(join(projects, own, id!, 'subagents'), { recursive: true });
    await writeFile(join(projects, own, `${id}.jsonl`), '');
  }
  // A fork of the session continues the first conversation in a workspace of its own.
  await mkdir(join(projects, '-fork'));
  await writeFile(join(projects, '-fork', `${first}.jsonl`), '');
  const transcripts = createOperatorTranscripts(join(folder, 'records'));
  await transcripts.add('sesn_1', first!, place);
  await transcripts.add('sesn_1', second!, place);
  await transcripts.add('sesn_1', '..', place);
  await transcripts.add('sesn_1', `../${own}/${other}`, place);
  await writeFile(join(folder, 'records', 'sesn_2.jsonl'), 'half a li');
  expect(await transcripts.list()).toEqual(['sesn_1', 'sesn_2']);
  await transcripts.remove('sesn_2');
  await transcripts.remove('sesn_1');
  await transcripts.remove('sesn_3');
  expect(await readdir(join(projects, own))).toEqual([other, `${other}.jsonl`]);
  expect(await readdir(join(projects, '-fork'))).toEqual([`${first}.jsonl`]);
  expect(await transcripts.list()).toEqual([]);
});
