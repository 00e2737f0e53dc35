import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { startOfProcess } from '../../../base/process/start-of-process.ts';
import { isCode } from '../../../tools/workspace/directory.ts';
import type { FileChange } from '../diff-trees.ts';

/**
 * The changes that are being written to a directory. Stored in a file next to the snapshot repository from before the first file is written
 * until after the last one. If the process is killed the journal remains, so that the files can be set back.
 */
export interface WriteJournal {
  readonly id: string;
  readonly directory: string;
  readonly changes: readonly JournalChange[];
  /** Directories that did not exist before, as path texts, parents first. */
  readonly newDirectories: readonly string[];
  readonly machine: string;
  readonly pid: number;
  /** The start time of the process. */
  readonly started: string | null;
}

/** A file that is written or removed. */
export type JournalChange = Pick<FileChange, 'path' | 'before' | 'after'>;

/** Writes a journal, and makes it durable. */
export async function beginJournal(
  repositoryPath: string,
  { directory, changes, newDirectories }: Pick<WriteJournal, 'directory' | 'changes' | 'newDirectories'>,
): Promise<WriteJournal> {
  const { pid } = process;
  const journal: WriteJournal = {
    id: randomUUID(),
    directory,
    changes: changes.map(({ path, before, after }) => ({ path, before, after })),
    newDirectories,
    machine: hostname(),
    pid,
    started: startOfProcess(pid),
  };
  const file = fileOf(repositoryPath, directory);
  const handle = await open(`${file}.draft`, 'w', 0o600);
  try {
    await handle.writeFile(JSON.stringify(journal));
    await handle.sync();
  } finally {
    await handle.close();
  }
  underWay.add(file);
  try {
    await rename(`${file}.draft`, file);
    await syncDirectory(dirname(file));
    return journal;
  } catch (error) {
    underWay.delete(file);
    throw error;
  }
}

/** Removes the journal, after the files are written or set back. */
export async function endJournal(repositoryPath: string, directory: string): Promise<void> {
  const file = fileOf(repositoryPath, directory);
  try {
    await rm(file, { force: true });
  } finally {
    underWay.delete(file);
  }
}

/** The journal of a process that was killed. Undefined if there is no journal, or if its process is still writing. */
export async function findLeftJournal(repositoryPath: string, directory: string): Promise<WriteJournal | undefined> {
  const journal = await readJournal(fileOf(repositoryPath, directory));
  return journal !== undefined && isLeft(repositoryPath, journal) ? journal : undefined;
}

/** The journals that processes of this machine have left in the directory of the snapshot repositories. */
export async function listLeftJournals(
  directory: string,
): Promise<readonly { readonly repositoryPath: string; readonly journal: WriteJournal }[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  });
  const found = names
    .filter((name) => name.endsWith(SUFFIX))
    .map(async (name) => {
      const journal = await readJournal(join(directory, name));
      const repositoryPath = join(directory, basename(name).split('.', 1)[0]!);
      // Journals of other machines that share the directory are skipped: their processes may be writing.
      const isOurs = journal?.machine === hostname() && isLeft(repositoryPath, journal);
      return isOurs ? [{ repositoryPath, journal }] : [];
    });
  return (await Promise.all(found)).flat();
}

/** The temporary name of a file before it is renamed. */
export function toDraftName({ id }: Pick<WriteJournal, 'id'>): string {
  return `.fleetloom-${id}.tmp`;
}

const SUFFIX = '.writing';

/** Journals of this process whose files are being written. */
const underWay = new Set<string>();

/** The journal file of a directory. The directories of a session are written one after the other. */
function fileOf(repositoryPath: string, directory: string): string {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return `${repositoryPath}.${hash}${SUFFIX}`;
}

function isLeft(repositoryPath: string, { directory, machine, pid, started }: WriteJournal): boolean {
  if (underWay.has(fileOf(repositoryPath, directory))) return false;
  const isOther = machine !== hostname() || pid === process.pid;
  return isOther || started === null || startOfProcess(pid) !== started;
}

async function readJournal(file: string): Promise<WriteJournal | undefined> {
  try {
    // The content is complete and trusted: only `beginJournal` writes it, and renames it into place.
    return JSON.parse(await readFile(file, 'utf8')) as WriteJournal;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
