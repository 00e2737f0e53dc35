import { statSync } from 'node:fs';
import { findOrphanedWorktrees } from '@fleetloom/server';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { type KeptSession, listRunDirectories, readRun, toRunState } from '../workspace/kept-runs.ts';

/** A worktree or a run that nothing uses any more. */
export interface LeftWorktree {
  readonly name: 'Runs' | 'Worktrees';
  readonly state: 'note';
  readonly text: string;
  /** How to remove the worktree or the run. */
  readonly fix: string;
}

/** Finds worktrees and data of runs that no session uses any more, that are incomplete, or whose run was killed, and how to remove them. */
export async function findWorktrees(io: Io, data: string | undefined): Promise<readonly LeftWorktree[]> {
  const found = await Promise.all([
    findOrphans(toDataDirectory(io.env, data), START),
    ...(data === undefined ? listRunDirectories(io.env).map((directory) => findInRun(io, directory)) : []),
  ]);
  return found.flat();
}

const START = 'Start the server, which repairs or removes it, or run `git worktree prune` in the repository.';

/** Each run has a data directory of its own, which is searched too. */
async function findInRun(io: Io, directory: string): Promise<readonly LeftWorktree[]> {
  const run = readRun(directory);
  const prune = 'run `git worktree prune` in the repository';
  if (run === undefined) {
    const age = io.timers.now() - (statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
    // A run that is just starting has no record yet.
    if (age < limits.runBeginsMs) return [];
    const text = `${directory}: the data of a run that was killed when it began`;
    return [{ name: 'Runs', state: 'note', text, fix: `Remove it (rm -r ${directory}), and ${prune}.` }];
  }
  const killed = run.details.filter((session) => toRunState(session) === 'interrupted').map(describeKilled);
  const discard = run.sessions.map((id) => `fleetloom discard ${id}`).join(', ');
  return [...killed, ...(await findOrphans(directory, `Run "${discard}", or ${prune}.`))];
}

function describeKilled({ id, directory }: KeptSession): LeftWorktree {
  const fix = `"fleetloom diff ${id}" shows what it changed, "fleetloom discard ${id}" removes its worktree and data.`;
  return { name: 'Runs', state: 'note', text: `${id} in ${directory}: its process was killed`, fix };
}

async function findOrphans(data: string, fix: string): Promise<readonly LeftWorktree[]> {
  const orphans = await findOrphanedWorktrees(data);
  return orphans.map(({ repository, workspace, problem }) => ({
    name: 'Worktrees',
    state: 'note',
    text: repository === null ? `${workspace} of a thread: ${problem}` : `${workspace} in ${repository}: ${problem}`,
    fix: repository === null ? `Start the server, which repairs it, or remove it (rm -r ${workspace}).` : fix,
  }));
}
