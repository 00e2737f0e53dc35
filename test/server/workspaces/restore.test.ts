import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changesOf, refusalOf, toLines } from './changes.suite.ts';
import { createRecorded, framesOf, say } from './snapshots.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';
import { withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

const MODES = ['worktree', 'in_place'] as const;
const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
const edit = (path: string, from: string, to: string) => [
  { call: 'read', input: { file_path: path } },
  { call: 'edit', input: { file_path: path, old_string: from, new_string: to } },
];
const SCRIPT = [
  [write('b.txt', 'b\n'), write('c.txt', 'c\n'), write('.env.local', 'agent\n')],
  edit('README.md', 'second', 'agent'),
  [{ say: 'done' }],
];

it.each(MODES)(
  '[WS230] a restore leaves files alone that the session did not change, also when it is repeated (%s)',
  (mode) =>
    withSession(mode, async ({ changes, at, put, read, directory, frames }) => {
      await put('mine.txt', 'mine\n');
      await put('src/main.ts', 'export const mine = 1;\n');
      await rm(join(directory, '.gitignore'));
      const check = async () => {
        expect(await read('mine.txt')).toBe('mine\n');
        expect(await read('src/main.ts')).toBe('export const mine = 1;\n');
        expect(existsSync(join(directory, '.gitignore'))).toBe(false);
      };
      expect(await changes.restore({ at: at.last })).toMatchObject({ cursor: null, files: [], overwritten: [] });
      await check();
      // The files of the user were recorded before, so that nothing can be lost.
      const found = (await frames()).at(-1)!;
      expect(found).toMatchObject({ type: 'workspace.changed', thread_id: null, payload: { cause: 'turn' } });
      expect((await changes.content({ path: 'mine.txt', at: String(found.seq) })).bytes.toString()).toBe('mine\n');
      const expected = ['.env.local deleted 0 1', 'README.md modified 1 1', 'b.txt deleted 0 1', 'c.txt deleted 0 1'];
      expect(toLines((await changes.restore({ at: at.first, dry_run: true })).files)).toEqual(expected);
      const restored = await changes.restore({ at: at.first });
      expect([toLines(restored.files), restored.overwritten_count]).toEqual([expected, 0]);
      await check();
      expect([await read('README.md'), existsSync(join(directory, 'b.txt'))]).toEqual(['second\n', false]);
      expect(toLines((await changes.restore({ at: restored.before.cursor })).files)).toHaveLength(4);
      await check();
      expect(await read('b.txt')).toBe('b\n');
    }),
);

it.each(MODES)(
  '[WS231] a file that changed after the session wrote it is a conflict, which changes nothing (%s)',
  (mode) =>
    withSession(mode, async ({ changes, at, put, read, directory, frames }) => {
      await put('b.txt', 'b\nmine\n');
      await rm(join(directory, 'README.md'));
      await put('mine.txt', 'mine\n');
      const before = (await frames()).length;
      for (const more of [{}, { dry_run: true }, { overwrite: false }]) {
        const refusal = await refusalOf(changes.restore({ at: at.first, ...more }));
        expect(refusal).toMatchObject({ status: 409, code: 'restore_conflict' });
        expect(refusal.message).toMatch(/\(README\.md, b\.txt\), and nothing was written: .*overwrite/);
        expect(refusal.details).toEqual({
          files: [
            { path: 'README.md', reason: 'content', places: null, text: 'changed after the session wrote it' },
            { path: 'b.txt', reason: 'content', places: null, text: 'changed after the session wrote it' },
          ],
          files_count: 2,
        });
      }
      // A restore that records the files of the user does not make them files of the session.
      await changes.restore({ at: at.last });
      expect(await refusalOf(changes.restore({ at: at.first }))).toMatchObject({ details: { files_count: 2 } });
      expect((await frames()).length).toBe(before + 1);
      expect([await read('b.txt'), await read('c.txt'), await read('mine.txt')]).toEqual([
        'b\nmine\n',
        'c\n',
        'mine\n',
      ]);
      expect(existsSync(join(directory, 'README.md'))).toBe(false);
      // A file that already is as wanted is not a conflict.
      await rm(join(directory, 'b.txt'));
      await put('README.md', 'second\n');
      expect(toLines((await changes.restore({ at: at.first })).files)).toEqual([
        '.env.local deleted 0 1',
        'c.txt deleted 0 1',
      ]);
    }),
);

it.each(MODES)(
  '[WS232] with overwrite the preview lists such files, and the cursor of the state before undoes the restore (%s)',
  (mode) =>
    withSession(mode, async ({ changes, at, put, read, directory }) => {
      await put('b.txt', 'b\nmine\n');
      await put('.env.local', 'mine\n');
      await rm(join(directory, 'README.md'));
      const overwritten = ['.env.local', 'README.md', 'b.txt'];
      const dry = await changes.restore({ at: at.first, overwrite: true, dry_run: true });
      expect(dry).toMatchObject({ overwritten, overwritten_count: 3, files_count: 4, cursor: null });
      expect(await read('b.txt')).toBe('b\nmine\n');
      const restored = await changes.restore({ at: at.first, overwrite: true });
      expect([restored.files, restored.overwritten]).toEqual([dry.files, overwritten]);
      expect([await read('README.md'), existsSync(join(directory, 'b.txt'))]).toEqual(['second\n', false]);
      expect(Number(restored.before.cursor)).toBeLessThan(Number(restored.cursor));
      await changes.restore({ at: restored.before.cursor });
      expect([await read('b.txt'), await read('.env.local'), await read('c.txt')]).toEqual([
        'b\nmine\n',
        'mine\n',
        'c\n',
      ]);
      expect(existsSync(join(directory, 'README.md'))).toBe(false);
    }),
);

it('[WS233] a file that cannot be recorded is never replaced, also not with overwrite', () =>
  withSession('in_place', async ({ changes, at, put, read, directory }) => {
    await put('b.txt', 'x'.repeat(10 * 1024 * 1024 + 1));
    await rm(join(directory, 'README.md'));
    await mkdir(join(directory, 'README.md'));
    await put('README.md/mine.txt', 'mine\n');
    const refuse = () => refusalOf(changes.restore({ at: at.first, overwrite: true }));
    expect(await refuse()).toMatchObject({ code: 'restore_conflict', details: { files: [{ path: 'b.txt' }] } });
    await put('b.txt', 'b\n');
    expect(await refuse()).toMatchObject({ code: 'restore_conflict', details: { files: [{ path: 'README.md' }] } });
    expect([await read('b.txt'), await read('README.md/mine.txt')]).toEqual(['b\n', 'mine\n']);
  }));

interface RestoredSession {
  readonly changes: ReturnType<typeof changesOf>;
  /** Cursors of the workspace before and after the turn. */
  readonly at: { readonly first: string; readonly last: string };
  /** The directory that the session worked in. */
  readonly directory: string;
  readonly put: (path: string, content: string) => Promise<void>;
  readonly read: (path: string) => Promise<string>;
  readonly frames: () => ReturnType<typeof framesOf>;
}

/** Runs with a session whose turn is over. */
function withSession(mode: (typeof MODES)[number], run: (session: RestoredSession) => Promise<void>): Promise<void> {
  return withRepository(async (user) => {
    await user.write('.git/info/exclude', '.env.local\n');
    const play = async (test: TestServer) => {
      const id = await createRecorded(test, SCRIPT, { path: user.path, mode });
      await say(test, id);
      const changes = changesOf(test, id);
      const { from, to, workspace } = await changes.list();
      const directory = workspace!;
      await run({
        changes,
        at: { first: from!.cursor, last: to!.cursor },
        directory,
        put: (path, content) => writeFile(join(directory, path), content),
        read: (path) => readFile(join(directory, path), 'utf8'),
        frames: () => framesOf(test, id),
      });
    };
    await withServer(play, { allowedDirectories: [user.root], allowUnsandboxedBash: true });
  });
}
