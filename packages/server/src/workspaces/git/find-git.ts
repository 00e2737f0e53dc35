import { FleetloomError } from '../../base/errors.ts';
import { runProgram } from '../../base/process/run-program.ts';
import { findProgram as findOnPath, type FindProgram } from '../../tools/find-program.ts';
import { workspaceLimits } from '../limits.ts';
import { createGit, type Git } from './run-git.ts';

/** The git program of this machine, or the reason why none can be used. */
export type FoundGit =
  | { readonly type: 'found'; readonly path: string; readonly version: string; readonly git: Git }
  | { readonly type: 'unavailable'; readonly reason: string };

/** Looks for git on PATH. */
export async function findGit(findProgram: FindProgram = findOnPath): Promise<FoundGit> {
  const path = await findProgram('git');
  if (path === undefined) return { type: 'unavailable', reason: 'git is not installed' };
  const { stdout } = await runProgram(path, ['version'], {
    timeoutMs: workspaceLimits.gitTimeoutMs,
    outputBytesMax: workspaceLimits.gitStderrBytesMax,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  const [version, major = '0', minor = '0'] = /(\d+)\.(\d+)[.\w-]*/.exec(stdout) ?? [];
  if (version === undefined) return { type: 'unavailable', reason: `${path} does not report a version` };
  const isNew = Number(major) > MAJOR_MIN || (Number(major) === MAJOR_MIN && Number(minor) >= MINOR_MIN);
  if (!isNew) return { type: 'unavailable', reason: `${path} is git ${version}, which is older than ${OLDEST}` };
  return { type: 'found', path, version, git: createGit(path) };
}

const MAJOR_MIN = 2;
const MINOR_MIN = 30;
const OLDEST = `${MAJOR_MIN}.${MINOR_MIN}`;

/** Finds git on first use, and searches again if it was not found, because it may have been installed in the meantime. */
export function createGitFinder(
  find: () => Promise<FoundGit> = () => findGit(),
): () => Promise<FoundGit & { type: 'found' }> {
  let finding: Promise<FoundGit> | undefined;
  return async () => {
    finding ??= find();
    const found = await finding.catch((error: unknown) => {
      finding = undefined;
      throw error;
    });
    if (found.type === 'found') return found;
    finding = undefined;
    throw new FleetloomError({
      code: 'git_unavailable',
      kind: 'caller',
      problem: `workspaces need git: ${found.reason}`,
      advice: `install git ${OLDEST} or newer on the machine of the server`,
    });
  };
}
