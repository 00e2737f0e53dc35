import { chmod, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { FleetloomError } from '../errors.ts';

/**
 * Creates the directory of a server, or prepares an existing one: whatever the umask was when its files were created, no other
 * user can read them afterwards. A directory that contains only files of a server is restricted itself; one that is used
 * for other things as well keeps its mode.
 */
export async function prepareDataDirectory(given: string): Promise<void> {
  await mkdir(given, { recursive: true, mode: 0o700 });
  const path = await realpath(given);
  const [names, stats] = await Promise.all([readdir(path), lstat(path)]);
  if (isMine(stats) && names.every(isOurs)) await tighten(path);
  else if ((stats.mode & OTHERS_WRITE) !== 0) throw writableByAll(path, stats);
  for (const name of names.filter(isOurs)) await tighten(join(path, name));
}

/** Creates a directory that only its owner can access. An existing directory is restricted. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await tighten(path);
}

/** Creates an empty file that only its owner can access, so that the code that writes it need not set modes. An existing file is restricted. */
export async function makePrivateFile(path: string): Promise<void> {
  // An existing file is not opened: closing it would release the locks that this process holds on it.
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await handle?.close();
  await tighten(path);
}

/** Removes the permissions of group and others. Fails for an accessible file of another user, which is not changed. */
export async function tighten(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const stats = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  // The target of a link may belong to another user and is not changed.
  if (stats === undefined || stats.isSymbolicLink() || (stats.mode & OTHERS) === 0) return;
  if (!isMine(stats)) throw foreign(path, stats);
  await chmod(path, stats.mode & ~OTHERS & 0o7777);
}

const OTHERS = 0o077;
const OTHERS_WRITE = 0o002;

/** The names of all files that a server and its commands keep in the data directory. */
const OURS = new Set(
  [
    'fleetloom.db fleetloom.db-wal fleetloom.db-shm fleetloom.db-journal',
    'keys signing-key master-key webhook-key node-id store-id local.json local.json.new',
    'files resources mounted workspaces snapshots git-sockets programs program-homes demo-scripts',
  ].flatMap((names) => names.split(' ')),
);

function isOurs(name: string): boolean {
  return OURS.has(name);
}

function isMine({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

function foreign(path: string, { uid, mode }: Stats): FleetloomError {
  return new FleetloomError({
    code: 'file_not_private',
    kind: 'terminal',
    problem: `${path} belongs to user ${uid} and has mode ${toOctal(mode)}, so others can read it`,
    advice: `run \`chown -R ${process.getuid?.()}\` or \`chmod go-rwx\` on it, or choose another data directory`,
  });
}

function writableByAll(path: string, { mode }: Stats): FleetloomError {
  return new FleetloomError({
    code: 'file_not_private',
    kind: 'terminal',
    problem: `every user can write to the data directory ${path} (mode ${toOctal(mode)})`,
    advice: 'choose a directory of its own, or run `chmod o-w` on it',
  });
}

function toOctal(mode: number): string {
  return `0${(mode & 0o7777).toString(8)}`;
}
