import { isUtf8 } from 'node:buffer';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { snapshotLimits } from './objects/limits.ts';
import { type BytePath, toPathBytes } from './objects/path-text.ts';
import type { NotRecorded } from './not-recorded.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import { SUBMODULE_MODE } from './objects/tree-objects.ts';

/** The directory to scan for changes, and its index. */
export interface ScanPlace {
  readonly repository: SnapshotRepository;
  /** The directory whose files are recorded. */
  readonly directory: string;
  readonly indexFile: string;
  readonly excludeFile: string;
}

/** The limits of a scan, which tests lower. */
export interface ScanLimits {
  readonly recordPathsMax: number;
  readonly nestedRepositoriesMax: number;
}

/** Paths that may have changed since the index was written. */
export interface Candidates {
  /** Recorded files whose state on disk differs, with the objects that were recorded. */
  readonly tracked: ReadonlyMap<BytePath, { readonly mode: string; readonly object: string }>;
  readonly untracked: readonly BytePath[];
  readonly notRecorded: readonly NotRecorded[];
}

/**
 * Finds the paths that may have changed, by names and file states only: git reads no content for a snapshot, so a path that
 * leads out of the workspace for a moment can at most be listed, and reading it fails afterwards. Submodules are ignored,
 * because git would start itself in their directories, with their configuration.
 */
export async function findCandidates(place: ScanPlace, limits: ScanLimits = snapshotLimits): Promise<Candidates> {
  const { repository, directory, indexFile } = place;
  const [changed, others] = await Promise.all([
    repository.run(['diff-files', '--raw', '-z', '--no-abbrev', '--no-renames', '--ignore-submodules=all'], {
      ...at(directory),
      indexFile,
    }),
    listOthers(place, directory, indexFile),
  ]);
  const nested = await listNested(place, others.names.filter(isDirectory), limits);
  const untracked = [...others.names.filter((path) => !isDirectory(path)), ...nested.paths];
  checkCount(untracked.length, limits);
  const notRecorded = [...others.notListed.map(toUnreadable), ...nested.notRecorded];
  return { tracked: parseRaw(changed.stdout), untracked, notRecorded };
}

/** Ignored files and directories. Of an ignored directory only its name is returned. */
export async function findIgnored({ repository, directory, indexFile, excludeFile }: ScanPlace): Promise<BytePath[]> {
  const args = ['ls-files', '-o', '-i', '-z', '--directory', `--exclude-from=${excludeFile}`];
  const found = splitNames((await repository.run(args, { ...at(directory), indexFile })).stdout).sort();
  // Drops directories that are not ignored themselves, but contain only ignored files, which git lists as well.
  return found.filter((path, index) => !(isDirectory(path) && found[index + 1]?.startsWith(path)));
}

/** The submodules of the index. */
export async function findSubmodules(place: Omit<ScanPlace, 'excludeFile'>): Promise<BytePath[]> {
  const { repository, directory, indexFile } = place;
  const { stdout } = await repository.run(['ls-files', '-s', '-z'], { ...at(directory), indexFile });
  const entries = splitNames(stdout).filter((entry) => entry.startsWith(SUBMODULE_MODE));
  return entries.map((entry) => entry.slice(entry.indexOf('\t') + 1));
}

function at(directory: string) {
  return { cwd: directory, workTree: directory };
}

async function listOthers({ repository, excludeFile }: ScanPlace, directory: string, indexFile: string) {
  const args = ['ls-files', '-o', '-z', `--exclude-from=${excludeFile}`];
  const { stdout, stderr = '' } = await repository.run(args, { ...at(directory), indexFile });
  return { names: splitNames(stdout), notListed: findNotListed(stderr) };
}

/**
 * Directories that git could not open, because of a too long path or of their permissions. Git only warns about
 * them. It truncates a warning after 4 kB; then the parent directory is returned.
 */
function findNotListed(stderr: string): BytePath[] {
  return stderr.split('\n').flatMap((line) => {
    const [, text, end] = /could not open directory '(.*?)(': [A-Z][a-z ]+)?$/.exec(line) ?? [];
    if (text === undefined) return [];
    const path = end === undefined ? text.slice(0, text.lastIndexOf('/')) : text.replace(/\/$/, '');
    return path === '' ? [] : [`${path}/`];
  });
}

function toUnreadable(path: BytePath): NotRecorded {
  return { path, reason: 'unreadable' };
}

/**
 * Lists the files of repositories inside of the workspace, of which git itself lists only the directory. Skips `.git`,
 * which cannot be in a tree. Once such files are recorded, git lists the directory on its own.
 */
async function listNested(
  place: ScanPlace,
  directories: readonly BytePath[],
  limits: ScanLimits,
): Promise<{ paths: BytePath[]; notRecorded: NotRecorded[] }> {
  const found = { paths: [] as BytePath[], notRecorded: [] as NotRecorded[] };
  const rest = [...directories];
  for (let count = 0; rest.length > 0; count++) {
    const nested = rest.shift()!;
    if (count >= limits.nestedRepositoriesMax || !isUtf8(toPathBytes(nested))) {
      found.notRecorded.push({ path: nested, reason: 'nested_repository' });
      continue;
    }
    const directory = join(place.directory, toPathBytes(nested).toString());
    const listed = await listOthers(place, directory, place.repository.file('no-index')).catch(() => undefined);
    if (listed === undefined) {
      // Reported as unreadable, and listed again by the next record, unless it was removed.
      const isThere = await lstat(directory).catch(() => undefined);
      if (isThere !== undefined) found.notRecorded.push(toUnreadable(nested));
      continue;
    }
    for (const name of listed.names) (isDirectory(name) ? rest : found.paths).push(`${nested}${name}`);
    found.notRecorded.push(...listed.notListed.map((name) => toUnreadable(`${nested}${name}`)));
    found.notRecorded.push({ path: `${nested}.git`, reason: 'git_directory' });
    checkCount(found.paths.length, limits);
  }
  return found;
}

function checkCount(count: number, { recordPathsMax }: ScanLimits): void {
  if (count > recordPathsMax)
    throw new Error(`the workspace has more than ${recordPathsMax} files that are not recorded`);
}

function isDirectory(path: BytePath): boolean {
  return path.endsWith('/');
}

function splitNames(stdout: Buffer): BytePath[] {
  const text = stdout.toString('latin1');
  return text === '' ? [] : text.slice(0, -1).split('\0');
}

/** Parses lines of the form `:100644 100644 <old> <new> M\0path\0`. */
function parseRaw(stdout: Buffer): Map<BytePath, { mode: string; object: string }> {
  const parts = splitNames(stdout);
  const found = new Map<BytePath, { mode: string; object: string }>();
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [mode, , object] = parts[index]!.slice(1).split(' ');
    found.set(parts[index + 1]!, { mode: mode!, object: object! });
  }
  return found;
}
