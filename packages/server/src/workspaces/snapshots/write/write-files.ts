import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { FleetloomError } from '../../../base/errors.ts';
import { isCode } from '../../../tools/workspace/directory.ts';
import { HeldPaths, toPath } from '../held-path.ts';
import { snapshotLimits } from '../objects/limits.ts';
import { type BytePath, toBytePath, toPathText } from '../objects/path-text.ts';
import type { SnapshotRepository } from '../objects/snapshot-repository.ts';
import { SUBMODULE_MODE, type TreeItem } from '../objects/tree-objects.ts';
import { type JournalChange, toDraftName } from './write-journal.ts';

/** Options of {@link writeFiles}. */
export interface WriteFilesOptions {
  /** Receives each written change, even if a later one fails. */
  readonly done?: JournalChange[] | undefined;
  /** The temporary name of each file before it is renamed. */
  readonly draft?: string | undefined;
}

/**
 * Writes changes between two trees to a directory: added and modified files are written, deleted files are removed, and
 * nothing else is touched. Each file appears complete under its name. No symbolic link is followed on the way.
 */
export async function writeFiles(
  repository: SnapshotRepository,
  changes: readonly JournalChange[],
  directory: string,
  { done = [], draft = toDraftName({ id: randomUUID() }) }: WriteFilesOptions = {},
): Promise<void> {
  const held = new HeldPaths(directory);
  try {
    // In reverse order, so that directories are emptied before they are removed. Removals come first, because a directory may become a file.
    for (const change of changes.filter(({ after }) => after === null).toReversed()) {
      await remove(held, toBytePath(change.path));
      done.push(change);
    }
    const written = changes.filter(({ after }) => after !== null && after.mode !== SUBMODULE_MODE);
    for (const batch of toBatches(written, repository.fileBytesMax)) {
      const objects = await repository.read(batch.map(({ after }) => after!.object));
      for (const [at, change] of batch.entries()) {
        const { path, after } = change;
        const object = objects[at];
        if (object === undefined) throw new Error(`the snapshot has lost the object ${after!.object} of ${path}`);
        await write(held, toBytePath(path), { mode: after!.mode, content: object.content, draft });
        done.push(change);
      }
    }
  } finally {
    await held.close();
  }
}

/** Batches whose contents fit into memory. A file has at most `fileBytesMax` bytes, unless it was committed before the session. */
function* toBatches(changes: readonly JournalChange[], fileBytesMax: number): Iterable<readonly JournalChange[]> {
  const atOnce = Math.max(1, Math.floor((8 * snapshotLimits.batchBytesMax) / fileBytesMax));
  for (let at = 0; at < changes.length; at += atOnce) yield changes.slice(at, at + atOnce);
}

async function remove(held: HeldPaths, path: BytePath): Promise<void> {
  const names = path.split('/');
  const parent = await held.hold(names.slice(0, -1));
  if (parent === undefined) return;
  const file = toPath(parent, names.at(-1)!);
  await unlink(file).catch(async (error: unknown) => {
    // The file is gone, or a directory has replaced it, whose content is not touched.
    if (isCode(error, 'ENOENT', 'EISDIR')) return;
    // Some systems report EPERM for a directory, and all systems for a file that must not be removed.
    const stats = isCode(error, 'EPERM') ? await lstat(file).catch(() => undefined) : undefined;
    if (!stats?.isDirectory()) throw refused(path, 'removed', error);
  });
  await removeEmpty(held, names.slice(0, -1));
}

/** Removes directories that have become empty, because git does not record empty directories. */
async function removeEmpty(held: HeldPaths, names: readonly BytePath[]): Promise<void> {
  for (let depth = names.length; depth > 0; depth--) {
    const parent = await held.hold(names.slice(0, depth - 1));
    if (parent === undefined) return;
    try {
      await rmdir(toPath(parent, names[depth - 1]!));
    } catch (error) {
      if (isCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY')) return;
      throw error;
    }
  }
}

interface NewContent {
  readonly mode: TreeItem['mode'];
  readonly content: Buffer;
  readonly draft: string;
}

async function write(held: HeldPaths, path: BytePath, { mode, content, draft: name }: NewContent): Promise<void> {
  const names = path.split('/');
  const parent = await held.hold(names.slice(0, -1), { makes: true });
  if (parent === undefined) throw blocked(path);
  const draft = toPath(parent, name);
  try {
    if (mode === '120000') await symlink(content, draft);
    else await writeNew(draft, { mode, content, replaced: await findReplaced(toPath(parent, names.at(-1)!)) });
    await putInPlace(held, draft, names);
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw isCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR') ? blocked(path) : refused(path, 'written', error);
  }
}

async function putInPlace(held: HeldPaths, draft: Buffer, names: readonly BytePath[]): Promise<void> {
  const target = async () => toPath((await held.hold(names.slice(0, -1)))!, names.at(-1)!);
  try {
    await rename(draft, await target());
  } catch (error) {
    if (!isCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST')) throw error;
    // The target is a directory of only empty directories, which are not recorded and so were not removed with files.
    await removeEmptyTree(held, names);
    await rename(draft, await target());
  }
}

/** Removes a directory that contains only directories. Fails with ENOTEMPTY if it contains anything else. */
async function removeEmptyTree(held: HeldPaths, names: readonly BytePath[]): Promise<void> {
  const path = await held.hold(names);
  if (path === undefined) return;
  for (const entry of await readdir(path, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await removeEmptyTree(held, [...names, entry.name.toString('latin1')]);
  }
  await rmdir(toPath((await held.hold(names.slice(0, -1)))!, names.at(-1)!));
}

/** The stats of the file to be replaced; undefined if there is no regular file. */
async function findReplaced(path: Buffer): Promise<Stats | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() ? stats : undefined;
}

async function writeNew(
  path: Buffer,
  { mode, content, replaced }: { mode: string; content: Buffer; replaced: Stats | undefined },
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const isExecutable = mode === '100755';
  const permissions = replaced === undefined ? undefined : keepPermissions(replaced, isExecutable);
  const handle = await open(path, flags, permissions ?? (isExecutable ? 0o777 : 0o666));
  try {
    await handle.writeFile(content);
    // Sets the exact permissions, because `open` applies the umask of this process.
    if (permissions !== undefined) await handle.chmod(permissions);
  } finally {
    await handle.close();
  }
}

/** The permissions of the replaced file. An executable file may be run by all users that may read it. */
function keepPermissions({ mode }: Stats, isExecutable: boolean): number {
  return (mode & 0o666) | (isExecutable ? (mode & 0o444) >> 2 : 0);
}

function refused(path: BytePath, action: 'removed' | 'written', cause: unknown): FleetloomError {
  const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
  const problem = `${toPathText(path)} cannot be ${action} (${reason})`;
  return new FleetloomError({ code: 'path_blocked', kind: 'caller', problem, advice: ADVICE, cause });
}

const ADVICE = 'check its permissions and attributes, and the free space';

function blocked(path: BytePath): FleetloomError {
  return new FleetloomError({
    code: 'path_blocked',
    kind: 'caller',
    problem: `${path} cannot be written: a file, a link or a directory with other files is in its way`,
    advice: 'move it away and try again',
  });
}
