import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changesOf, refusalOf, toLines } from './changes.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';
import { createRecorded, say } from './snapshots.suite.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

const edit = (path: string, old: string, next: string) => ({
  call: 'edit',
  input: { file_path: path, old_string: old, new_string: next },
});
const bash = (command: string) => ({ call: 'bash', input: { command } });
const done = [{ say: 'done' }];

it('[WS600] changes are applied to files that git checked out with CRLF, which keep their line endings', () =>
  withUser(async (test, user) => {
    await commitWithCrlf(user);
    const turn = [edit('notes.txt', 'three', 'agent'), bash('rm gone.txt')];
    const id = await createRecorded(test, [turn, done], { path: user.path });
    await say(test, id);
    const changes = changesOf(test, id);
    const applied = await changes.apply();
    expect(toLines(applied.files)).toEqual(['gone.txt deleted 0 1', 'notes.txt modified 1 1']);
    expect(await readFile(join(user.path, 'notes.txt'), 'utf8')).toBe('one\r\ntwo\r\nagent\r\n');
    expect(existsSync(join(user.path, 'gone.txt'))).toBe(false);
    expect((await changes.apply()).files_count).toBe(0);
    // For git the file has the one line that the agent changed.
    expect(user.git('diff', '--numstat')).toBe('0\t1\tgone.txt\n1\t1\tnotes.txt');
    await user.write('notes.txt', 'one\r\ntwo\r\nmine\r\n');
    expect(await refusalOf(changes.apply())).toMatchObject({ code: 'apply_conflict' });
    expect(await readFile(join(user.path, 'notes.txt'), 'utf8')).toBe('one\r\ntwo\r\nmine\r\n');
  }));

it('[WS600] changes of a session that worked in place on files with CRLF are committed with the line endings of the repository', () =>
  withUser(async (test, user) => {
    await commitWithCrlf(user);
    const id = await createRecorded(test, [[edit('notes.txt', 'three', 'agent')], done], {
      path: user.path,
      mode: 'in_place',
    });
    await say(test, id);
    await changesOf(test, id).apply({ onto: 'branch', branch: 'result' });
    expect(user.git('diff', '--numstat', 'main', 'result')).toBe('1\t1\tnotes.txt');
    expect(user.git('cat-file', '-p', 'result:notes.txt')).toBe('one\ntwo\nagent');
  }));

/** The repository has LF, the working tree CRLF. */
async function commitWithCrlf(user: UserRepository): Promise<void> {
  await user.write('.gitattributes', '*.txt text eol=crlf\n');
  await user.write('notes.txt', 'one\r\ntwo\r\nthree\r\n');
  await user.write('gone.txt', 'gone\r\n');
  user.git('add', '--all');
  user.git('commit', '--quiet', '--message=endings');
  expect(user.git('ls-files', '--eol', 'notes.txt')).toMatch(/^i\/lf +w\/crlf/);
}

function withUser(
  run: (test: TestServer, user: UserRepository) => Promise<void>,
  options: Parameters<typeof withServer>[1] = {},
): Promise<void> {
  return withRepository((user) =>
    withServer((test) => run(test, user), { allowedDirectories: [user.root], allowUnsandboxedBash: true, ...options }),
  );
}
