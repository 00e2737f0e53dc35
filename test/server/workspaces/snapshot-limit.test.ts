import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changesOf, toLines } from './changes.suite.ts';
import { createRecorded, say } from './snapshots.suite.ts';
import { withServer } from '../server.suite.ts';
import { withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import { snapshotLimits } from '../../../packages/server/src/workspaces/snapshots/objects/limits.ts';

const SCRIPT = [
  [
    { call: 'write', input: { file_path: 'edge.txt', content: `${'x'.repeat(29)}\n` } },
    { call: 'write', input: { file_path: 'large.txt', content: `${'x'.repeat(30)}\n` } },
  ],
  [{ say: 'done' }],
];

it('[WS609] a server with a limit of its own records and applies files up to that size', () =>
  withRepository(async (user) => {
    await withServer(
      async (test) => {
        const id = await createRecorded(test, SCRIPT, { path: user.path });
        await say(test, id);
        const changes = changesOf(test, id);
        const { files, not_recorded: rest } = await changes.list();
        expect(toLines(files)).toEqual(['edge.txt added 1 0']);
        expect(rest).toMatchObject([{ path: 'large.txt', reason: 'too_large' }]);
        await changes.apply();
        expect(['edge.txt', 'large.txt'].map((path) => existsSync(join(user.path, path)))).toEqual([true, false]);
      },
      { allowedDirectories: [user.root], snapshotFileBytesMax: 30 },
    );
  }));

it.each([0, 1.5, snapshotLimits.fileBytesAtMost + 1])('[WS609] a limit of %s bytes is rejected', async (bytes) => {
  const started = withServer(async () => {}, { snapshotFileBytesMax: bytes });
  await expect(started).rejects.toMatchObject({ code: 'snapshot_limit_invalid' });
  expect(snapshotLimits.fileBytesAtMost).toBe(100 * 1024 * 1024);
});
