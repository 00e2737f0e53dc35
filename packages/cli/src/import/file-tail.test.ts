import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../base/limits.ts';
import { FileTail } from './file-tail.ts';

it('[J155] a file is read on from where it was, and half a line is left for later', async () => {
  const path = await temporaryFile();
  const tail = new FileTail(path);
  expect(await read(tail)).toEqual([]);
  await writeFile(path, '{"type":"a"}\n{"type":"ä');
  expect(await read(tail)).toEqual(['a']);
  expect(await read(tail)).toEqual([]);
  // Cut in the middle of a character, too.
  const rest = Buffer.from('ö"}\n\n{"type":"c"}\r\n');
  await appendFile(path, rest.subarray(0, 1));
  expect(await read(tail)).toEqual([]);
  await appendFile(path, rest.subarray(1));
  expect(await read(tail)).toEqual(['äö', undefined, 'c']);
  await rm(path);
  expect(await read(tail)).toEqual([]);
});

it('[J155] lines longer than a piece of the file are whole', async () => {
  const path = await temporaryFile();
  const long = 'x'.repeat(1024 * 1024);
  await writeFile(path, `{"type":"${long}"}\n{"type":"b"}\n`);
  expect(await read(new FileTail(path))).toEqual([long, 'b']);
});

it('[J155] one over the limit is left out, and the next is read', async () => {
  const path = await temporaryFile();
  const frame = '{"type":""}'.length;
  const edge = 'x'.repeat(limits.importLineBytesMax - frame);
  await writeFile(path, `{"type":"${edge}"}\n{"type":"${edge}y"}\n{"type":"b"}\n`);
  const types = await read(new FileTail(path));
  expect(types.map((type) => type?.length)).toEqual([edge.length, undefined, 1]);
}, 60_000);

async function read(tail: FileTail): Promise<(string | undefined)[]> {
  const types: (string | undefined)[] = [];
  for await (const record of tail.read()) types.push(record?.type);
  return types;
}

async function temporaryFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-tail-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'a.jsonl');
}
