import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SESSION_PATHS } from '../workspace/session-paths.ts';
import { isRootForKernel } from './kernel.ts';
import { DATA_FD, type LaunchRequest, type ReadOnlyPath } from './sandbox.ts';

/** The part of the files of a sandbox that is the same in every launch. */
export interface SandboxFilesOptions {
  readonly readOnlyPaths: readonly string[];
  /** Whether bubblewrap can limit the size of file systems in memory (since 0.7). */
  readonly canSize: boolean;
}

export interface SandboxFilesRequest
  extends Pick<
    LaunchRequest,
    'program' | 'workspace' | 'isWorkspaceWritable' | 'readOnlyPaths' | 'writablePaths' | 'writableFiles' | 'covers'
  > {
  readonly allowsNetwork: boolean;
  readonly temporaryBytes: number;
}

/** The files that a program finds in its sandbox, as arguments of bubblewrap. */
export function describeFiles(request: SandboxFilesRequest, options: SandboxFilesOptions): string[] {
  const { program, workspace, isWorkspaceWritable, allowsNetwork, readOnlyPaths = [], writablePaths = [] } = request;
  const { writableFiles = [] } = request;
  const temporary = (path: string): string[] => {
    return [...(options.canSize ? ['--size', `${request.temporaryBytes}`] : []), '--tmpfs', path];
  };
  const bind = isWorkspaceWritable ? '--bind' : '--ro-bind';
  return [
    system(),
    processes(),
    ['--dev', '/dev'],
    temporary('/dev/shm'),
    ['--remount-ro', '/dev'],
    temporary('/tmp'),
    temporary('/var/tmp'),
    temporary(HOME),
    settings(allowsNetwork),
    accounts(),
    bindReadOnly([...options.readOnlyPaths, ...readOnlyPaths]),
    bindReadOnly(toMissing(program, readOnlyPaths)),
    writablePaths.flatMap((path) => ['--bind', path, path]),
    writableFiles.flatMap(({ path, at }) => ['--bind', path, at]),
    [bind, workspace, workspace],
    names(workspace, bind),
    coverEntries(workspace, request.covers ?? []),
    // Read-only, because the root is in memory too, and its size cannot be limited.
    ['--remount-ro', '/'],
    ['--chdir', workspace],
  ].flat();
}

/** The contents of the descriptors from {@link DATA_FD} on that {@link describeFiles} refers to. */
export const ACCOUNT_FILES: readonly string[] = ['agent:x:1000:1000:agent:/home/user:/bin/bash\n', 'agent:x:1000:\n'];

/** The user of programs in the sandbox. */
export const USER_ID = '1000';
/** The home directory of that user. */
export const HOME = '/home/user';

/** Programs of the machine, read-only. An allow-list, because a list of everything to hide is never complete. */
function system(): string[] {
  return SYSTEM_DIRECTORIES.filter((path) => existsSync(path)).flatMap((path) => {
    const isLink = lstatSync(path).isSymbolicLink();
    return isLink ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
}

/**
 * Read-only as a whole: where the server is root, the kernel lets a program in the sandbox write `/proc/sys`, and with
 * `kernel.core_pattern` that program would run another one as root outside.
 */
function processes(): string[] {
  hidden ??= findHidden();
  const files = hidden.files.flatMap((path) => ['--ro-bind', '/dev/null', path]);
  const directories = hidden.directories.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]);
  return ['--proc', '/proc', ...files, ...directories, '--remount-ro', '/proc'];
}

let hidden: { readonly files: readonly string[]; readonly directories: readonly string[] } | undefined;

/** The entries of `/proc` to hide, among them the kernel's keys, log, memory statistics and addresses. */
function findHidden(): { files: readonly string[]; directories: readonly string[] } {
  const others = readdirSync('/proc').filter((name) => !/^[0-9]+$/.test(name) && !SHOWN_IN_PROC.has(name));
  const paths = others.map((name) => join('/proc', name)).filter((path) => isReadable(path));
  const directories = paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  return { files: paths.filter((path) => !directories.includes(path)), directories };
}

/** Only the machine's root can read, as their owner, the files that others may not read. */
function isReadable(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return isRootForKernel() || (mode & 0o004) !== 0;
}

function settings(allowsNetwork: boolean): string[] {
  const wanted = allowsNetwork ? [...ETC_NAMES, 'resolv.conf'] : ETC_NAMES;
  const paths = wanted.map((name) => `/etc/${name}`).filter((path) => existsSync(path));
  // Some are links to files that do not exist inside.
  return ['--dir', '/etc', ...paths.flatMap((path) => ['--ro-bind', realpathSync(path), path])];
}

function accounts(): string[] {
  return ['--ro-bind-data', `${DATA_FD}`, '/etc/passwd', '--ro-bind-data', `${DATA_FD + 1}`, '/etc/group'];
}

function bindReadOnly(paths: readonly (string | ReadOnlyPath)[]): string[] {
  return paths.flatMap((each) => {
    const { path, at } = typeof each === 'string' ? { path: each, at: each } : each;
    return ['--ro-bind', path, at];
  });
}

/** A program outside the system's directories is bound on its own, without the directory it is in. */
function toMissing(program: string, readOnlyPaths: readonly (string | ReadOnlyPath)[]): string[] {
  const isSystem = SYSTEM_DIRECTORIES.some((directory) => program.startsWith(`${directory}/`));
  const isNamed = readOnlyPaths.some((each) => typeof each !== 'string' && each.at === program);
  return isSystem || isNamed ? [] : [program];
}

/**
 * The names by which agents know the workspace in every session. The workspace itself is mounted, because `find` and `du` do
 * not follow a link; directories in it are links, because an agent can put a link to anywhere in their place.
 */
function names(workspace: string, bind: string): string[] {
  const isFree = ({ shown }: { shown: string }) => workspace !== shown && !workspace.startsWith(`${shown}/`);
  return SESSION_PATHS.filter(isFree).flatMap(({ shown, inside }) => {
    return inside === '' ? [bind, workspace, shown] : ['--symlink', join(workspace, inside), shown];
  });
}

/** The mounts of covers. The workspace is mounted twice, so each cover has to be mounted in both. */
function coverEntries(workspace: string, covers: NonNullable<LaunchRequest['covers']>): string[] {
  const roots = [workspace, ...SESSION_PATHS.filter(isMountedAt(workspace)).map(({ shown }) => shown)];
  return covers.flatMap(({ path, inside, isWritable }) =>
    roots.flatMap((root) => [isWritable ? '--bind' : '--ro-bind', path, join(root, inside)]),
  );
}

/** Whether a name stands for the workspace itself, and can be mounted. */
function isMountedAt(workspace: string) {
  return ({ shown, inside }: { readonly shown: string; readonly inside: string }) =>
    inside === '' && workspace !== shown && !workspace.startsWith(`${shown}/`);
}

const SYSTEM_DIRECTORIES = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Files that programs read, and harmless ones: each hidden file costs a mount at every launch. */
const SHOWN_IN_PROC = new Set(
  (
    'buddyinfo bus cgroups config.gz consoles cpuinfo crypto devices diskstats dma driver execdomains filesystems fs ' +
    'iomem ioports irq loadavg locks meminfo misc mounts mtrr net partitions pressure self softirqs stat swaps sys ' +
    'sysvipc thread-self tty uptime version vmstat zoneinfo'
  ).split(' '),
);

/** Entries of `/etc` that programs see: no shadow, no keys, no settings of the machine's services. */
const ETC_NAMES = [
  'alternatives',
  'bash.bashrc',
  'ca-certificates',
  'ca-certificates.conf',
  'debian_version',
  'hosts',
  'inputrc',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
];
