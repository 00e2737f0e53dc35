import { appendFile, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../../../base/limits.ts';
import { runProgram } from '../../../tools/toolbox.suite.ts';
import { findTranscripts } from './find-transcripts.ts';
import { TranscriptFile } from './transcript-file.ts';

it('[J279] a transcript is read from where the last read ended, and half a line waits for its rest', async () => {
  const { root, path } = await temporaryFile();
  await writeFile(path, '{"type":"before"}\n');
  const file = new TranscriptFile({ root, path, offset: '{"type":"before"}\n'.length });
  expect(await typesOf(file)).toEqual([]);
  await appendFile(path, '{"type":"a"}\nnot JSON\n{"type":');
  expect(await typesOf(file)).toEqual(['a']);
  await appendFile(path, '"b"}\n');
  expect(await typesOf(file)).toEqual(['b']);
  expect(Date.now() - file.changedAt).toBeLessThan(60_000);
});

it('[J279] no more than 256 MiB of a transcript is read', async () => {
  const { root, path } = await temporaryFile();
  const line = '{"type":"a"}\n';
  const { transcriptBytesMax } = limits;
  expect(transcriptBytesMax).toBe(268_435_456);
  // A sparse file: reading begins close to the limit.
  await truncate(path, transcriptBytesMax - line.length);
  await appendFile(path, `${line}${line}`);
  const file = new TranscriptFile({ root, path, offset: transcriptBytesMax - line.length });
  expect(await typesOf(file)).toEqual(['a']);
  expect(await typesOf(file)).toEqual([]);
});

it('[J279] links, pipes and folders in the place of a transcript are not read', async () => {
  const { root, path } = await temporaryFile();
  const outside = await mkdtemp(join(tmpdir(), 'fleetloom-outside-'));
  onTestFinished(() => rm(outside, { recursive: true, force: true }));
  await writeFile(join(outside, 'agent-a1.jsonl'), '{"type":"secret"}\n');
  const folder = join(root, 'p', 'c1', 'subagents');
  await mkdir(folder, { recursive: true });
  await symlink(join(outside, 'agent-a1.jsonl'), join(folder, 'agent-a1.jsonl'));
  await symlink(outside, join(folder, 'linked'));
  runProgram('mkfifo', [join(folder, 'agent-a2.jsonl')]);
  await mkdir(join(folder, 'agent-a3.jsonl'));
  await writeFile(join(folder, 'agent-a4.jsonl'), '{"type":"own"}\n');
  expect(await findTranscripts(root, 'c1')).toEqual([{ agentId: 'a4', path: join(folder, 'agent-a4.jsonl') }]);
  expect(await findTranscripts(root, '../c1')).toEqual([]);
  for (const name of ['agent-a1.jsonl', 'agent-a2.jsonl', 'agent-a3.jsonl', 'linked/agent-a1.jsonl']) {
    const file = new TranscriptFile({ root, path: join(folder, name), offset: 0 });
    expect(await typesOf(file)).toEqual([]);
  }
  await rm(path);
  expect(await typesOf(new TranscriptFile({ root, path, offset: 0 }))).toEqual([]);
});

it('[J279] at most 10,000 transcripts of a conversation are found, three folders deep', async () => {
  const { root } = await temporaryFile();
  const folder = join(root, 'p', 'c1', 'subagents');
  const deep = join(folder, 'one', 'two', 'three');
  await mkdir(join(deep, 'four'), { recursive: true });
  await writeFile(join(deep, 'agent-a.jsonl'), '');
  await writeFile(join(deep, 'four', 'agent-b.jsonl'), '');
  expect((await findTranscripts(root, 'c1')).map(({ agentId }) => agentId)).toEqual(['a']);
  expect(limits.transcriptFilesMax).toBe(10_000);
});

async function temporaryFile() {
  const root = await mkdtemp(join(tmpdir(), 'fleetloom-transcript-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const path = join(root, 'agent-a.jsonl');
  await writeFile(path, '');
  return { root, path };
}

async function typesOf(file: TranscriptFile): Promise<string[]> {
  return (await file.read()).map(({ type }) => type);
}
