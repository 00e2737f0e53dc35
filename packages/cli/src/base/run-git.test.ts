import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { call } from '../../test-support/live-io.ts';
import { createUserRepository } from '../../test-support/user-repository.ts';
import { hasUncommitted } from '../run/run-workspace.ts';
import { runGit } from './run-git.ts';

/** A repository whose configuration names programs, each of which leaves a file behind. */
function createHostileRepository() {
  const user = createUserRepository();
  const marker = join(dirname(user.path), 'executed');
  const command = `touch ${marker}; cat`;
  const included = join(user.path, '.git/included');
  user.git('config', 'filter.plain.clean', command);
  user.git('config', 'filter.plain.required', 'true');
  user.git('config', 'filter.dotted.name.process', command);
  user.git('config', '--file', included, 'filter.included.clean', command);
  user.git('config', 'include.path', included);
  const changed = (attributes: string) => {
    user.write('.git/info/attributes', attributes);
    // Of the same size, so that only the content shows the change.
    user.write('a.txt', 'two\n');
  };
  return { user, marker, changed };
}

it.each(['plain', 'dotted.name', 'included'])(
  '[Y210] a check for uncommitted changes does not run the filter "%s" of the repository',
  async (name) => {
    const { user, marker, changed } = createHostileRepository();
    changed(`*.txt filter=${name}\n`);
    expect([await hasUncommitted(user.path), existsSync(marker)]).toEqual([true, false]);
    // The same repository runs it for a plain git, so the check above could have failed.
    execFileSync('git', ['status', '--porcelain'], { cwd: user.path, stdio: 'ignore' });
    expect(existsSync(marker)).toBe(true);
  },
);

it('[Y210] a filter driver whose name cannot be overridden prevents the check instead of running', async () => {
  const { user, marker, changed } = createHostileRepository();
  user.git('config', 'filter.a=b.clean', `touch ${marker}; cat`);
  changed('*.txt filter=a=b\n');
  expect([await runGit(user.path, ['status', '--porcelain']), existsSync(marker)]).toEqual([undefined, false]);
});

it('[Y210] fleetloom run does not run a filter of the repository, and still reports uncommitted changes', async () => {
  const { user, marker, changed } = createHostileRepository();
  changed('*.txt filter=plain\n');
  const { code, stderr } = await call(['run', 'hello', '--model', 'scripted/echo'], { env: user.env, cwd: user.path });
  expect([code, existsSync(marker)]).toEqual([0, false]);
  expect(stderr).toContain('agents do not see your uncommitted changes');
});
