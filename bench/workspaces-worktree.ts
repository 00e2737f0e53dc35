import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
// Workspaces are not a public part of the server.
import { openTestWorkspaces } from '../packages/server/src/composition/open-workspaces.suite.ts';

/** How long a worktree took, one of a session and one of git, and how many files each has. */
export interface WorktreeRound {
  readonly oursMs: number;
  readonly gitMs: number;
  readonly oursFiles: number;
  readonly gitFiles: number;
}

/** Creates worktrees of a repository in turns: a session's, from the request to the open workspace, and one of `git worktree add`. */
export async function measureWorktrees(directory: string, rounds: number): Promise<readonly WorktreeRound[]> {
  const { workspaces, add, dataDirectory } = await openTestWorkspaces({ root: directory });
  const done: WorktreeRound[] = [];
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    const workspace = await workspaces.open(await add({ path: directory }));
    const middle = performance.now();
    const plain = join(dataDirectory, `plain-${round}`);
    execFileSync('git', ['worktree', 'add', '--quiet', '-b', `plain-${round}`, plain], { cwd: directory });
    const end = performance.now();
    const [oursFiles, gitFiles] = [countFiles(workspace), countFiles(plain)];
    done.push({ oursMs: middle - begin, gitMs: end - middle, oursFiles, gitFiles });
  }
  return done;
}

function countFiles(directory: string): number {
  const names = readdirSync(directory).filter((name) => name !== '.git' && name !== '.fleetloom');
  const entries = names.flatMap((name) => readdirSync(join(directory, name), { recursive: true, withFileTypes: true }));
  return entries.filter((entry) => entry.isFile()).length;
}
