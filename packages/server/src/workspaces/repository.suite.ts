import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A git repository of a user, made with the real git. */
export interface UserRepository {
  /** The directory that contains the repository, to be allowed by tests. */
  readonly root: string;
  /** The working tree of the repository. */
  readonly path: string;
  /** A directory outside of the root, in which nothing may be read or written. */
  readonly outside: string;
  /** Runs git as the user would, and returns what it wrote. */
  readonly git: (...args: readonly string[]) => string;
  readonly write: (path: string, content: string) => Promise<void>;
  /** Digests of all files, to detect any change. `except` are prefixes of paths that may change. */
  readonly fingerprint: (except?: readonly string[]) => Readonly<Record<string, string>>;
}

/** Runs with a repository that has two commits, a branch, a tag, a stash and an ignored file, and removes it. */
export async function withRepository(run: (repository: UserRepository) => Promise<void>): Promise<void> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'fleetloom-repository-')));
  const [root, outside] = [join(directory, 'root'), join(directory, 'outside')];
  const path = join(root, 'project');
  const git = (...args: readonly string[]) => runUserGit(path, args);
  const write = (name: string, content: string) => writeTo(path, name, content);
  try {
    await mkdir(root);
    await mkdir(outside);
    await cp(await (template ??= makeTemplate()), path, { recursive: true });
    // The index has the file states of the originals, so it is refreshed for the copies.
    git('update-index', '-q', '--refresh');
    await run({ root, path, outside, git, write, fingerprint: (except = []) => fingerprint(path, except) });
  } finally {
    // Retries, because workspaces of tests are removed in the background at the same time.
    await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Created once per process, because that takes a dozen git processes. */
let template: Promise<string> | undefined;

async function makeTemplate(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'fleetloom-template-')));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  // Created with the mode of a usual directory, because the mode is copied too.
  const path = join(directory, 'project');
  await mkdir(path);
  const git = (...args: readonly string[]) => runUserGit(path, args);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  await writeTo(path, '.gitignore', 'node_modules/\n.env\n');
  await writeTo(path, 'README.md', 'first\n');
  git('add', '--all');
  git('commit', '--quiet', '--message=first');
  git('tag', 'v1');
  await writeTo(path, 'README.md', 'second\n');
  await writeTo(path, 'src/main.ts', 'export {};\n');
  git('add', '--all');
  git('commit', '--quiet', '--message=second');
  git('branch', 'other', 'v1');
  await writeTo(path, 'README.md', 'stashed\n');
  git('stash', '--quiet');
  await writeTo(path, '.env', 'SECRET=1\n');
  return path;
}

async function writeTo(directory: string, name: string, content: string): Promise<void> {
  await mkdir(dirname(join(directory, name)), { recursive: true });
  await writeFile(join(directory, name), content);
}

/** Runs git as a user does, with the configuration and hooks of the repository, but without the configuration of this machine. */
export function runUserGit(cwd: string, args: readonly string[]): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  return execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}

function fingerprint(top: string, except: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (inside: string) => {
    for (const name of readdirSync(join(top, inside))) {
      const path = inside === '' ? name : `${inside}/${name}`;
      if (except.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) continue;
      const stats = lstatSync(join(top, path));
      if (stats.isDirectory()) visit(path);
      else
        found[path] = stats.isSymbolicLink()
          ? `-> ${readlinkSync(join(top, path))}`
          : digest(join(top, path), stats.mode);
    }
  };
  visit('');
  return found;
}

function digest(path: string, mode: number): string {
  return `${mode.toString(8)} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
}
