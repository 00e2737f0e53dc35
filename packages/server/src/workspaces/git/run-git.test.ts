import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workspaceLimits } from '../limits.ts';
import { createGitFinder, findGit } from './find-git.ts';
import { GitFailure } from './git-failure.ts';
import { createGit, type Git } from './run-git.ts';

it('[WS27] a git command runs with none of the variables of the server, and not with its configuration', () =>
  withProgram('env; echo "args: $*"', async ({ git, directory }) => {
    process.env['GIT_DIR'] = '/elsewhere';
    process.env['FLEETLOOM_TEST_SECRET'] = 'secret';
    try {
      const { stdout } = await git.run(['status'], { cwd: directory, env: { EXTRA: 'yes' } });
      const text = stdout.toString();
      expect(text).not.toContain('/elsewhere');
      expect(text).not.toContain('secret');
      expect(text).toContain('EXTRA=yes');
      for (const line of [
        'GIT_CONFIG_NOSYSTEM=1',
        'GIT_CONFIG_GLOBAL=/dev/null',
        'GIT_TERMINAL_PROMPT=0',
        'GIT_ALLOW_PROTOCOL=none',
      ]) {
        expect(text).toContain(line);
      }
      expect(text).toMatch(/args: .*-c core\.hooksPath=\/dev\/null .*--no-pager --literal-pathspecs status\n/);
    } finally {
      delete process.env['GIT_DIR'];
      delete process.env['FLEETLOOM_TEST_SECRET'];
    }
  }));

it('[WS27] a failure has the exit code and what git wrote, without control characters and bounded', () =>
  withProgram(
    'printf "fatal: \\033[31mbad\\n\\tname" >&2; head -c 200000 /dev/zero | tr "\\0" x >&2; exit 128',
    async ({ git, directory }) => {
      const failure = await failureOf(git.run(['log'], { cwd: directory }));
      expect(failure.code).toBe(128);
      expect(failure.message.startsWith('git log failed: fatal:  [31mbad name')).toBe(true);
      expect(failure.message.length).toBeLessThan(workspaceLimits.gitMessageCharsMax + 50);
      expect(failure.stderr.length).toBeLessThanOrEqual(workspaceLimits.gitStderrBytesMax);
      expect((await git.run(['log'], { cwd: directory, codes: [128] })).code).toBe(128);
    },
  ));

it('[WS27] output up to the limit is returned, and one byte more ends the command', () =>
  withProgram('head -c 1000 /dev/zero', async ({ git, directory }) => {
    const { stdout } = await git.run(['show'], { cwd: directory, outputBytesMax: 1000 });
    expect(stdout).toHaveLength(1000);
    const failure = await failureOf(git.run(['show'], { cwd: directory, outputBytesMax: 999 }));
    expect(failure.message).toBe('git show wrote more than 999 bytes');
  }));

it('[WS27] a command that takes too long, or is not wanted any more, is stopped with what it started', () =>
  withProgram('sleep 60 & echo $! > "$PWD/child"; wait', async ({ git, directory }) => {
    const failure = await failureOf(git.run(['gc'], { cwd: directory, timeoutMs: 300 }));
    expect(failure.message).toBe('git gc took longer than 300 ms');
    const child = Number(await readFile(join(directory, 'child'), 'utf8'));
    await expect.poll(() => isAlive(child)).toBe(false);
    const stop = new AbortController();
    const stopped = failureOf(git.run(['gc'], { cwd: directory, signal: stop.signal }));
    setTimeout(() => stop.abort(), 100);
    expect((await stopped).message).toBe('git gc was stopped');
    expect((await failureOf(git.run(['gc'], { cwd: directory, signal: stop.signal }))).message).toBe(
      'git gc was stopped before it began',
    );
  }));

it('[WS27] a program that does not exist is a failure with what to install', async () => {
  const failure = await failureOf(createGit('/nonexistent/git').run(['log'], { cwd: tmpdir() }));
  expect(failure.message).toMatch(/^git log cannot be started .*: install git 2\.30 or newer$/);
  expect(failure.code).toBe(null);
});

it.each([
  ['git version 2.29.9', 'is git 2.29.9, which is older than 2.30'],
  ['git version 1.99.0', 'is git 1.99.0, which is older than 2.30'],
  ['nonsense', 'does not report a version'],
])('[WS28] %s cannot be used', (output, reason) =>
  withProgram(`echo ${output}`, async ({ path }) => {
    const find = () => findGit(async () => path);
    expect(await find()).toEqual({ type: 'unavailable', reason: `${path} ${reason}` });
    await expect(createGitFinder(find)()).rejects.toThrow(/workspaces need git: .*: install git 2\.30 or newer/);
  }),
);

it('[WS28] git 2.30 and newer can be used, and git that is installed later is found', () =>
  withProgram('echo git version 2.30.0.windows.1', async ({ path }) => {
    let isInstalled = false;
    const find = createGitFinder(() => findGit(async () => (isInstalled ? path : undefined)));
    await expect(find()).rejects.toThrow(/git is not installed/);
    isInstalled = true;
    expect(await find()).toMatchObject({ type: 'found', path, version: '2.30.0.windows.1' });
  }));

interface Program {
  readonly git: Git;
  readonly path: string;
  readonly directory: string;
}

/** Runs with a shell script in the place of git. */
async function withProgram(script: string, run: (program: Program) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-git-'));
  const path = join(directory, 'git');
  try {
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    await run({ git: createGit(path), path, directory });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function failureOf(work: Promise<unknown>): Promise<GitFailure> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof GitFailure) return error;
  throw new Error('it did not fail as git does', { cause: error });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
