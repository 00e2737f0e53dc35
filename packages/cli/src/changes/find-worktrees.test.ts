import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../base/limits.ts';
import { createProcessIo } from '../base/process-io.ts';
import { keepRun } from '../workspace/kept-runs.ts';
import { findWorktrees } from './find-worktrees.ts';

it('[Y232] runs that were killed and worktrees of threads without a session are listed with the commands that remove them', async () => {
  const data = mkdtempSync(join(tmpdir(), 'fleetloom-left-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const session = { directory: '/project', isInPlace: false, task: 'x', startedAt: 1 };
  const changes = { files_count: 1, lines_added: 1, lines_removed: 0 };
  const runs = ['killed', 'ended', 'running'].map((name) => join(data, 'runs', name));
  await keepRun(runs[0]!, { ...session, id: 'sesn_killed', processId: 2 ** 30 });
  await keepRun(runs[1]!, { ...session, id: 'sesn_ended', processId: 2 ** 30, changes });
  await keepRun(runs[2]!, { ...session, id: 'sesn_running', processId: process.pid });
  const unknown = join(data, 'runs', 'unknown');
  const thread = join(runs[1]!, 'workspaces/sesn_gone.threads/sthr_1');
  for (const directory of [unknown, thread]) mkdirSync(directory, { recursive: true });
  const now = 1_000_000_000_000;
  const own = createProcessIo();
  const io = { ...own, env: { FLEETLOOM_DATA: data }, timers: { ...own.timers, now: () => now } };
  const setAge = (ageMs: number) => utimesSync(unknown, (now - ageMs) / 1_000, (now - ageMs) / 1_000);
  setAge(limits.runBeginsMs);
  const found = await findWorktrees(io, undefined);
  expect(found.map(({ text, fix }) => `${text} | ${fix}`).toSorted()).toEqual(
    [
      `sesn_killed in /project: its process was killed | "fleetloom diff sesn_killed" shows what it changed, "fleetloom discard sesn_killed" removes its worktree and data.`,
      `${thread} of a thread: no session has it | Start the server, which repairs it, or remove it (rm -r ${thread}).`,
      `${unknown}: the data of a run that was killed when it began | Remove it (rm -r ${unknown}), and run \`git worktree prune\` in the repository.`,
    ].toSorted(),
  );
  setAge(limits.runBeginsMs - 1);
  expect(await findWorktrees(io, undefined)).toHaveLength(2);
  expect(await findWorktrees(io, join(data, 'runs'))).toEqual([]);
});
