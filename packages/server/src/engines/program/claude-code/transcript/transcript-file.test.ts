import { writeFileSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { measureHarm } from '../../../../../../../test/support/measure-harm.ts';
import { baseLimits } from '../../../../base/limits.ts';
import { programLimits } from '../../limits.ts';
import { runProgram } from '../../../../tools/toolbox.suite.ts';
import { findTranscripts } from './find-transcripts.ts';
import { TranscriptFile, type Verdict } from './transcript-file.ts';

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

it('[J279] no more than 32 MiB of a transcript is read in one process', async () => {
  const { root, path } = await temporaryFile();
  const { transcriptBytesMax } = programLimits;
  expect(transcriptBytesMax).toBe(33_554_432);
  const line = '{"type":"a"}\n';
  const blank = `${' '.repeat(1024 * 1024 - 1)}\n`;
  await writeFile(path, `${line}${blank.repeat(31)}${' '.repeat(1024 * 1024 - 2 * line.length - 1)}\n`);
  const read = async (offset: number) => {
    const file = new TranscriptFile({ root, path, offset });
    return [(await typesOf(file)).length, file.isCut];
  };
  await appendFile(path, line);
  expect(await read(0)).toEqual([2, false]);
  await appendFile(path, line);
  expect(await read(0)).toEqual([2, true]);
  expect(await read(line.length)).toEqual([2, false]);
});

it('[J279] no more than 100,000 lines of a transcript are read in one process, whatever they hold', async () => {
  const { root, path } = await temporaryFile();
  const { transcriptLinesMax } = programLimits;
  expect(transcriptLinesMax).toBe(100_000);
  await writeFile(path, `${'{x\n\n'.repeat(transcriptLinesMax / 2 - 1)}\n{"type":"a"}\n`);
  const file = new TranscriptFile({ root, path, offset: 0 });
  expect([await typesOf(file), file.isCut]).toEqual([['a'], false]);
  await appendFile(path, '{"type":"b"}\n');
  expect([await typesOf(file), file.isCut]).toEqual([[], true]);
});

it('[J288] records of more than 8 MiB, 100,000 values or 500 levels are counted and left out, and the others are read', async () => {
  const { root, path } = await temporaryFile();
  const { programLineBytesMax, programLineValuesMax } = programLimits;
  const { contentDepthMax } = baseLimits;
  expect([programLineBytesMax, programLineValuesMax, contentDepthMax]).toEqual([8_388_608, 100_000, 500]);
  const long = (bytes: number) => `{"type":"long","a":"${'x'.repeat(bytes - 22)}"}\n`;
  // The gauge counts each array and object, and each comma.
  const wide = (values: number) => `{"type":"wide","a":[${'0,'.repeat(values - 4)}0]}\n`;
  const deep = (levels: number) => `{"type":"deep","a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}\n`;
  const inside = [long(programLineBytesMax), wide(programLineValuesMax), deep(contentDepthMax)];
  const beyond = [long(programLineBytesMax + 1), wide(programLineValuesMax + 1), deep(contentDepthMax + 1)];
  await writeFile(path, [...inside, ...beyond, '{"type":"last"}\n'].join(''));
  const file = new TranscriptFile({ root, path, offset: 0 });
  expect([await typesOf(file), file.skipped]).toEqual([['long', 'wide', 'deep', 'last'], 3]);
});

it('[J288] a record that is refused is read again, and one that ends a read is not', async () => {
  const { root, path } = await temporaryFile();
  await writeFile(path, '{"type":"a"}\n{"type":"b"}\n{"type":"c"}\n');
  const file = new TranscriptFile({ root, path, offset: 0 });
  const read = async (verdict: Verdict) => {
    const types: string[] = [];
    await file.read(({ type }) => (types.push(type), verdict));
    return types;
  };
  const reads = [await read('refuse'), await read('stop'), await read('refuse'), await read('continue')];
  expect(reads).toEqual([['a'], ['a'], ['b'], ['b', 'c']]);
  expect(await read('continue')).toEqual([]);
});

it('[J289] no more than 20,000 names are read in a search for transcripts, and many of them hold up nothing', async () => {
  const { root } = await temporaryFile();
  const folder = join(root, 'p', 'c1', 'subagents');
  await mkdir(folder, { recursive: true });
  for (let n = 0; n < 30_000; n++) writeFileSync(join(folder, `f${n}`), '');
  await writeFile(join(folder, 'agent-a.jsonl'), '');
  // The file and the project in the root, and the names in the folder, are entries.
  const find = async (entriesMax?: number) => (await findTranscripts(root, 'c1', entriesMax)).length;
  expect([await find(30_003), programLimits.transcriptEntriesMax]).toEqual([1, 20_000]);
  const { stallMs } = await measureHarm(() => Promise.all([find(), find(), find()]));
  expect(stallMs).toBeLessThan(120);
  await rm(folder, { recursive: true });
  await mkdir(folder);
  await writeFile(join(folder, 'agent-a.jsonl'), '');
  expect([await find(3), await find(1)]).toEqual([1, 0]);
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
  expect(programLimits.transcriptFilesMax).toBe(10_000);
});

async function temporaryFile() {
  const root = await mkdtemp(join(tmpdir(), 'fleetloom-transcript-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const path = join(root, 'agent-a.jsonl');
  await writeFile(path, '');
  return { root, path };
}

async function typesOf(file: TranscriptFile): Promise<string[]> {
  const types: string[] = [];
  await file.read(({ type }) => (types.push(type), 'continue'));
  return types;
}
