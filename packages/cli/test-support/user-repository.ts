import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A git repository of a user, and an environment whose data directory is beside the repository. */
export interface UserRepository {
  readonly path: string;
  readonly env: Record<string, string>;
  readonly data: string;
  readonly git: (...args: readonly string[]) => string;
  readonly read: (path: string) => string;
  readonly write: (path: string, content: string) => void;
  /** The data directories of kept runs. */
  readonly runs: () => readonly string[];
}

/** Creates a repository with one commit. It is removed when the test ends. */
export function createUserRepository(): UserRepository {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-user-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  const [path, data] = [join(root, 'project'), join(root, 'data')];
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: path, env, encoding: 'utf8' }).trimEnd();
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  };
  mkdirSync(path);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  write('a.txt', 'one\n');
  write('src/main.js', 'export {};\n');
  git('add', '--all');
  git('commit', '--quiet', '--message=first');
  const runs = () => {
    try {
      return readdirSync(join(data, 'runs'));
    } catch {
      return [];
    }
  };
  return {
    path,
    data,
    env: { FLEETLOOM_DATA: data },
    git,
    write,
    read: (name) => readFileSync(join(path, name), 'utf8'),
    runs,
  };
}
