import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { workspaceLimits } from '../limits.ts';
import { createGitSlots } from './git-slots.ts';
import { createOwnGit } from './own-git.ts';
import { createGit, type Git } from './run-git.ts';

/** Git whose processes end when the test releases them. */
function openHeldGit() {
  const held: { readonly key: string; readonly release: () => void }[] = [];
  const git: Git = {
    run: (_args, { gitDirectory }) =>
      new Promise((resolve) => {
        held.push({ key: gitDirectory!, release: () => resolve({ code: 0, stdout: Buffer.alloc(0) }) });
      }),
  };
  const releaseNext = async () => {
    held.shift()!.release();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { git, held, releaseNext };
}

const limits = { gitPerSessionMax: 2, gitAtOnceMax: 3, gitWaitingPerSessionMax: 2, gitWaitingMax: 3 };
const at = (gitDirectory: string, signal?: AbortSignal) => ({ cwd: '/', gitDirectory, signal });

it('[WS422] git processes for recorded files: 2 at once of a session and 4 of all; 32 and 128 wait, and further requests are rejected', async () => {
  const { git, held, releaseNext } = openHeldGit();
  const slots = createGitSlots(git, limits);
  const request = slots.forRequest();
  const runs = ['a', 'a', 'a', 'a', 'b', 'b'].map((key) => request.run([], at(key)));
  expect(held.map(({ key }) => key)).toEqual(['a', 'a', 'b']);
  // Two of a and one of b wait: no request may join them.
  const refusal = { code: 'too_many_requests', retryAfterSeconds: 2 };
  await expect(request.run([], at('a'))).rejects.toMatchObject(refusal);
  await expect(request.run([], at('c'))).rejects.toMatchObject(refusal);
  const patient = slots.patient.run([], at('c'));
  for (let round = 0; round < 7; round++) {
    expect(held.length).toBeLessThanOrEqual(limits.gitAtOnceMax);
    expect(held.filter(({ key }) => key === 'a').length).toBeLessThanOrEqual(limits.gitPerSessionMax);
    await releaseNext();
  }
  await Promise.all([...runs, patient]);
  const { gitPerSessionMax, gitAtOnceMax, gitWaitingPerSessionMax, gitWaitingMax } = workspaceLimits;
  expect([gitPerSessionMax, gitAtOnceMax, gitWaitingPerSessionMax, gitWaitingMax]).toEqual([2, 4, 32, 128]);
});

it('[WS423] a git process of a request ends, and does not start, when the client is gone', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-git-slots-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const program = join(directory, 'git');
  writeFileSync(program, '#!/bin/sh\necho $$ >> pids\nexec sleep 60\n');
  chmodSync(program, 0o755);
  const slots = createGitSlots(createGit(program), { ...limits, gitPerSessionMax: 1 });
  const client = new AbortController();
  const options = { cwd: directory, gitDirectory: directory };
  const running = [1, 2].map(() => slots.forRequest(client.signal).run(['log'], options));
  const ended = running.map((run) => expect(run).rejects.toMatchObject({ code: 'request_timeout' }));
  await expect.poll(() => readPids(directory).length).toBe(1);
  client.abort();
  await Promise.all(ended);
  await expect(slots.forRequest(client.signal).run(['log'], options)).rejects.toMatchObject({
    code: 'request_timeout',
  });
  const pids = readPids(directory);
  expect(pids).toHaveLength(1);
  await expect.poll(() => isRunning(pids[0]!)).toBe(false);
});

it('[WS424] a git process on recorded files has at most 2 GiB of private memory and 1,200 s of processor time', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-own-git-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const program = join(directory, 'git');
  writeFileSync(program, '#!/bin/sh\nulimit -d; ulimit -t\n');
  chmodSync(program, 0o755);
  const git = createOwnGit(async () => ({ type: 'found', path: program, git: createGit(program), version: '2.39.0' }));
  const { stdout } = await git.run(['status'], { cwd: directory });
  expect(stdout.toString()).toBe(`${2 * 1024 ** 2}\n1200\n`);
});

function readPids(directory: string): string[] {
  return execFileSync('sh', ['-c', 'cat pids 2>/dev/null || true'], { cwd: directory, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

function isRunning(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}
