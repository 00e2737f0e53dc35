import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { codeOf } from '../../store/suite/samples.suite.ts';
import { listOutputs } from '../../tools/session-files.ts';
import { openFileStore } from './file-store.ts';

it('[W35] a file that is too large, and one too many, is refused while it arrives and leaves nothing', () =>
  withDirectory(async (directory) => {
    const clock = createManualClock(0);
    const ids = createIds({ now: clock.now, random: () => 0.5 });
    const files = await openFileStore({ directory, clock, ids, filesMax: 2, bytesMax: 10 });
    let asked = 0;
    async function* content(...sizes: number[]) {
      for (const size of sizes) {
        asked += 1;
        yield Buffer.alloc(size);
      }
    }
    expect(await codeOf(files.receive(content(6, 5, 1, 1, 1, 1, 1)))).toBe('body_too_large');
    expect(asked).toBeLessThan(7);
    const kept = { workspaceId: 'w1', filename: 'a', mimeType: 'text/plain', expiresAt: null };
    const put = async () => (await files.receive(content(6, 4))).keep(kept);
    expect(await put()).toMatchObject({ size_bytes: 10 });
    await put();
    expect(await codeOf(put())).toBe('invalid_request');
    expect(await files.list('w2')).toEqual([]);
    expect(await files.list('w1')).toHaveLength(2);
    expect(await readdir(directory)).toHaveLength(2);
  }));

it('[W35] what a crash has left half written is removed at the next start', () =>
  withDirectory(async (directory) => {
    await mkdir(join(directory, 'file_1.draft'));
    await writeFile(join(directory, 'file_1.draft', 'content'), 'half');
    const clock = createManualClock(0);
    const files = await openFileStore({ directory, clock, ids: createIds({ now: clock.now, random: () => 0.5 }) });
    expect(await files.list('w1')).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  }));

it('[W35] of what a session has put out no more is listed than the limit', () =>
  withDirectory(async (directory) => {
    const outputs = join(directory, '.fleetloom', 'session', 'outputs');
    await mkdir(outputs, { recursive: true });
    for (const name of ['a', 'b', 'c']) await writeFile(join(outputs, name), name);
    expect(await listOutputs(directory, 3)).toHaveLength(3);
    expect((await listOutputs(directory, 2)).map(({ path }) => path)).toEqual(['a', 'b']);
  }));

async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-files-'));
  try {
    await run(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
