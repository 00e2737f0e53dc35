import { requestError } from '../../base/request-error.ts';
import { closing, Directory, isCode } from '../../tools/workspace/directory.ts';
import { workspaceLimits } from '../limits.ts';
import type { NestedGit } from '../workspace-source.ts';
import { areOfGitDirectory, isGitName } from './git-directories.ts';

/**
 * Finds each `.git` below a directory, and each bare repository. Follows no link. Throws a request error if there is more to
 * search or to cover than the limits allow, or a `.git` that cannot be covered.
 */
export async function findNestedGit(
  directory: string,
  entriesMax: number = workspaceLimits.nestedSearchEntriesMax,
): Promise<readonly NestedGit[]> {
  const search: Search = { directory, found: [], entriesMax, entriesLeft: entriesMax };
  await closing(await Directory.openRoot(directory), (root) => visit(root, search, 0));
  const count = withParents(search.found).length;
  if (count > workspaceLimits.coveredEntriesMax) {
    throw uncoverable(
      directory,
      `has too many git repositories in it (${count} paths to cover, at most ${workspaceLimits.coveredEntriesMax})`,
    );
  }
  return search.found;
}

/** The paths of nested git directories and of all their parent directories, parents first. */
export function withParents(nested: readonly Pick<NestedGit, 'inside'>[]): readonly string[] {
  const all = nested.flatMap(({ inside }) => {
    const names = inside.split('/');
    return names.map((_, index) => names.slice(0, index + 1).join('/'));
  });
  return [...new Set(all)].sort((one, other) => one.split('/').length - other.split('/').length);
}

interface Search {
  readonly directory: string;
  readonly found: NestedGit[];
  readonly entriesMax: number;
  entriesLeft: number;
}

async function visit(directory: Directory, search: Search, depth: number): Promise<void> {
  if (depth > workspaceLimits.copiedDepthMax) {
    throw uncoverable(search.directory, `is deeper than ${workspaceLimits.copiedDepthMax} directories`);
  }
  const entries = await directory.list(search.entriesLeft + 1);
  search.entriesLeft -= entries.length;
  if (search.entriesLeft < 0) {
    throw uncoverable(search.directory, `has more than ${search.entriesMax} files and directories`);
  }
  if (depth > 0 && areOfGitDirectory(new Set(entries.map(({ name }) => name)))) {
    search.found.push({ inside: directory.path, type: 'directory' });
    return;
  }
  for (const entry of entries) {
    const inside = directory.pathOf(entry.name);
    if (isGitName(entry.name)) {
      if (!entry.isDirectory() && !entry.isFile()) {
        throw uncoverable(search.directory, `has ${inside}, which is neither a file nor a directory`);
      }
      search.found.push({ inside, type: entry.isDirectory() ? 'directory' : 'file' });
    } else if (entry.isDirectory()) {
      const inner = await directory.openDirectory(entry.name).catch(ignoreUnreadable);
      if (inner !== undefined) await closing(inner, () => visit(inner, search, depth + 1));
    }
  }
}

/** Ignores a directory that was removed or replaced in the meantime, or that the server, and so an agent, cannot read. */
function ignoreUnreadable(error: unknown): undefined {
  if (!isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM')) throw error;
}

function uncoverable(path: string, problem: string) {
  return requestError('invalid_request', `mode: git directories in ${path} cannot be covered: it ${problem}`, {
    advice: 'use the directory of one repository, or mode copy',
  });
}
