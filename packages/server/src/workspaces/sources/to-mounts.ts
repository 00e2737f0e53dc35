import type { Stats } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceCover } from '../../tools/sandbox/sandbox.ts';
import { type DirectorySource, PLAIN_MOUNTS, type WorkspaceMounts } from '../workspace-source.ts';
import { findNestedGit, withParents } from './find-nested-git.ts';
import { type PrivateGit, toPrivateGit } from './private-git.ts';

/** The mounts of a session: its private git directory replaces the user's, and nested git directories are covered. */
export async function toMounts(source: DirectorySource, privateDirectory: string): Promise<WorkspaceMounts> {
  const { mode, workspace, repository } = source;
  const isWritable = mode !== 'read_only';
  const git = repository === null ? undefined : toPrivateGit(privateDirectory, repository);
  const cover = git === undefined ? undefined : await toCover(workspace, git, isWritable);
  const covers = [...(cover === undefined ? [] : [cover]), ...(await toNestedCovers(source, privateDirectory, cover))];
  if (git === undefined) return { ...PLAIN_MOUNTS, isWritable, covers };
  return {
    isWritable,
    readOnlyPaths: isWritable ? git.objects : [git.path, ...git.objects],
    writablePaths: isWritable ? [git.path] : [],
    covers,
  };
}

/** The cover of `.git`: a directory covers a directory, a file covers a file. Undefined below the top of a repository, which has no `.git`. */
async function toCover(workspace: string, git: PrivateGit, isWritable: boolean): Promise<WorkspaceCover | undefined> {
  const stats = await lstat(join(workspace, '.git')).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return { path: git.path, inside: '.git', isWritable };
  return { path: git.pointer, inside: '.git', isWritable: false };
}

/**
 * Covers the git directories of the user below the directory: a directory by an empty directory, a file by the same file, both
 * read-only. Their parent directories are mounted on themselves, because otherwise an agent could rename them and
 * create others at their paths.
 */
async function toNestedCovers(
  source: DirectorySource,
  privateDirectory: string,
  top: WorkspaceCover | undefined,
): Promise<readonly WorkspaceCover[]> {
  const { mode, workspace } = source;
  if (mode !== 'in_place' && mode !== 'read_only') return [];
  // Sessions of earlier versions have no list.
  const all = source.nestedGit ?? (await findNestedGit(workspace));
  const nested = new Map(all.filter(({ inside }) => inside !== top?.inside).map((each) => [each.inside, each.type]));
  if (nested.size === 0) return [];
  const empty = join(privateDirectory, 'empty');
  await mkdir(empty, { recursive: true, mode: 0o700 });
  const covers: WorkspaceCover[] = [];
  const missing: string[] = [];
  for (const inside of withParents([...nested.keys()].map((key) => ({ inside: key })))) {
    // The user may have removed the parent directory; an entry that has replaced it is not covered.
    if (missing.some((parent) => inside.startsWith(`${parent}/`))) continue;
    const path = join(workspace, inside);
    const type = typeOf(await lstat(path).catch(() => undefined));
    const wanted = nested.get(inside);
    if (type === undefined || type !== (wanted ?? 'directory')) missing.push(inside);
    else if (wanted === undefined) covers.push({ path, inside, isWritable: mode === 'in_place' });
    else covers.push({ path: wanted === 'directory' ? empty : path, inside, isWritable: false });
  }
  return covers;
}

function typeOf(stats: Stats | undefined): 'directory' | 'file' | undefined {
  if (stats?.isDirectory()) return 'directory';
  return stats?.isFile() ? 'file' : undefined;
}
