import { constants, type Dirent, type Stats } from 'node:fs';
import { copyFile, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { FleetloomError } from '../../base/errors.ts';
import { listNames } from '../../base/list-names.ts';
import { mapAtOnce } from '../../base/map-at-once.ts';
import { closing, type Directory, isCode } from '../../tools/workspace/directory.ts';
import { workspaceLimits } from '../limits.ts';
import { areOfGitDirectory, isGitName } from './git-directories.ts';
import { AGENT_AUTHOR_TEXT } from './private-git.ts';
import { stripGitConfig } from './strip-git-config.ts';

/** The state of a copy in progress. */
export interface Copying {
  /** Whether an entry is skipped, by its path in the source. */
  readonly isSkipped: (path: string) => boolean;
  /** The number of entries that may still be copied. */
  entriesLeft: number;
}

/** Creates the state of a new copy. */
export function createCopying(isSkipped: (path: string) => boolean = () => false): Copying {
  return { isSkipped, entriesLeft: workspaceLimits.copiedEntriesMax };
}

/**
 * Copies everything in a directory: files (as clones where the file system can), directories and symbolic links as they are.
 * No link is followed on either side, even if it is created in the meantime. Sockets, pipes and devices are skipped,
 * and existing files and links in the target are replaced. Credentials are removed from git configurations.
 */
export async function copyTree(source: Directory, target: Directory, copying: Copying, depth = 0): Promise<void> {
  if (depth > workspaceLimits.copiedDepthMax)
    throw tooMuch(`is deeper than ${workspaceLimits.copiedDepthMax} directories`);
  const entries = await source.list(copying.entriesLeft + 1);
  copying.entriesLeft -= entries.length;
  if (copying.entriesLeft < 0) throw tooMuch(`has more than ${workspaceLimits.copiedEntriesMax} files and directories`);
  const names = entries.filter(({ name }) => !copying.isSkipped(source.pathOf(name)));
  await checkNames(source, names);
  const [directories, others] = [
    names.filter((each) => each.isDirectory()),
    names.filter((each) => !each.isDirectory()),
  ];
  await mapAtOnce(others, workspaceLimits.copiesAtOnceMax, ({ name }) =>
    copyEntry(source, name, target, copying, depth),
  );
  for (const { name } of directories) await copyEntry(source, name, target, copying, depth);
}

/** Copies one entry of a directory. Does nothing if the entry is gone. */
export async function copyEntry(
  source: Directory,
  name: string,
  target: Directory,
  copying: Copying,
  depth = 0,
): Promise<void> {
  const stats = await source.stat(name);
  if (stats?.isDirectory()) return await copyDirectory(source, name, target, copying, depth);
  if (stats?.isSymbolicLink()) {
    const to = await source.readLink(name).catch(ignoreReplaced);
    if (to === undefined) return;
    await removeIfThere(target, name);
    return await target.makeLink(name, to);
  }
  if (stats?.isFile()) await copyFileAs(source, name, target, stats);
}

/** Throws for names that are not UTF-8. Such a name is listed with replacement characters, so no file of that name exists. */
async function checkNames(source: Directory, entries: readonly Dirent[]): Promise<void> {
  const suspects = entries.map(({ name }) => name).filter((name) => name.includes('\uFFFD'));
  const stats = await Promise.all(suspects.map((name) => source.stat(name)));
  const names = suspects.filter((_, at) => stats[at] === undefined).map((name) => source.pathOf(name));
  if (names.length > 0) throw tooMuch(`has file names that are not UTF-8: ${listNames(names)}`);
}

async function copyDirectory(source: Directory, name: string, target: Directory, copying: Copying, depth: number) {
  const from = await source.openDirectory(name).catch(ignoreReplaced);
  if (from === undefined) return;
  await closing(from, async () => {
    const before = await target.stat(name);
    if (before !== undefined && !before.isDirectory()) await target.remove(name);
    await target.makeDirectory(name);
    await closing(await target.openDirectory(name), (to) => copyTree(from, to, copying, depth + 1));
  });
}

async function copyFileAs(source: Directory, name: string, target: Directory, { mode }: Stats): Promise<void> {
  const from = await source.openFile(name, constants.O_RDONLY).catch(ignoreReplaced);
  if (from === undefined) return;
  await closing(from, async () => {
    const stats = await from.stat();
    if (!stats.isFile()) return;
    const isConfig = await isGitConfig(source, name);
    if (isConfig && stats.size > workspaceLimits.gitConfigBytesMax) return;
    await removeIfThere(target, name);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
    await closing(await target.openFile(name, flags, mode & 0o777), async (to) => {
      if (isConfig) await to.writeFile(AGENT_AUTHOR_TEXT + stripGitConfig(await from.readFile('latin1')), 'latin1');
      else await copyContent(from, to);
      await to.utimes(stats.atime, stats.mtime);
    });
  });
}

/** Whether a file is a git configuration: in a `.git`, at any depth, or in a bare repository. */
async function isGitConfig(directory: Directory, name: string): Promise<boolean> {
  if (name !== 'config' && name !== 'config.worktree') return false;
  if (directory.path.split('/').some(isGitName)) return true;
  const parts = ['HEAD', 'objects', 'refs', 'commondir'];
  const found = await Promise.all(parts.map((part) => directory.stat(part)));
  return areOfGitDirectory(new Set(parts.filter((_, index) => found[index] !== undefined)));
}

/** Copies between open files, so that neither path is looked up again. */
async function copyContent(from: FileHandle, to: FileHandle): Promise<void> {
  if (process.platform === 'linux') {
    const at = ({ fd }: FileHandle) => `/proc/self/fd/${fd}`;
    return await copyFile(at(from), at(to), constants.COPYFILE_FICLONE);
  }
  await pipeline(from.createReadStream({ autoClose: false }), to.createWriteStream({ autoClose: false }));
}

async function removeIfThere(target: Directory, name: string): Promise<void> {
  const before = await target.stat(name);
  if (before?.isDirectory()) throw tooMuch(`has a file ${target.pathOf(name)}, and there is a directory of that name`);
  if (before !== undefined) await target.remove(name);
}

/** Ignores that an entry was removed or replaced after it was listed. */
function ignoreReplaced(error: unknown): undefined {
  if (!isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL')) throw error;
}

function tooMuch(problem: string): FleetloomError {
  const advice = 'rename or remove what cannot be copied, choose another directory, or use mode worktree or in_place';
  return new FleetloomError({
    code: 'workspace_failed',
    kind: 'caller',
    problem: `the directory cannot be copied: it ${problem}`,
    advice,
  });
}
