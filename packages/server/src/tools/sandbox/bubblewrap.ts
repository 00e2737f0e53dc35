import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FindProgram } from '../find-program.ts';
import { SESSION_PATHS } from '../session-paths.ts';
import { DATA_FD, type Launch, type LaunchRequest, type Sandbox, type SandboxState } from './sandbox.ts';

export interface BubblewrapOptions {
  readonly findProgram: FindProgram;
  /** Lets programs reach the network: all of it, this machine's own services included. */
  readonly allowsNetwork?: boolean | undefined;
  /** Directories that programs may also read, such as that of a language which is installed somewhere else. */
  readonly readOnlyPaths?: readonly string[] | undefined;
}

/**
 * Bubblewrap, if it is installed and works here. It makes namespaces of the kernel, so it is not there on other systems
 * than Linux, and inside of some containers it is there and may not.
 */
export async function openBubblewrap(options: BubblewrapOptions): Promise<SandboxState> {
  const bwrap = await options.findProgram('bwrap');
  if (bwrap === undefined) return { type: 'unavailable', reason: 'bubblewrap (bwrap) is not installed' };
  const sandbox = createBubblewrap(bwrap, options);
  const reason = await tryOut(bwrap, options);
  return reason === undefined ? { type: 'ready', sandbox } : { type: 'unavailable', reason };
}

function createBubblewrap(bwrap: string, options: BubblewrapOptions): Sandbox {
  return {
    launch: ({ program, args, workspace, isWorkspaceWritable }: LaunchRequest): Launch => ({
      file: bwrap,
      args: [
        ...isolation(options),
        ...system(options),
        ...accounts(),
        // Where it is installed somewhere else, it alone is let in.
        ...bindReadOnly(program),
        isWorkspaceWritable ? '--bind' : '--ro-bind',
        workspace,
        workspace,
        ...names(workspace),
        '--chdir',
        workspace,
        '--',
        program,
        ...args,
      ],
      env: ENVIRONMENT,
      data: [`agent:x:${USER_ID}:${USER_ID}:agent:${HOME}:/bin/bash\n`, `agent:x:${USER_ID}:\n`],
    }),
  };
}

/** Nobody of the outside: an own user, an own numbering of processes, and nothing that outlives us. */
function isolation({ allowsNetwork = false }: BubblewrapOptions): string[] {
  // Also when we are root, and then above all: what is root inside would be root of the files outside.
  const nobody = `--unshare-all --unshare-user --uid ${USER_ID} --gid ${USER_ID} --cap-drop ALL --hostname fleetloom`;
  // The first kills everything inside when we die; the second keeps it from typing into our terminal.
  const nothing = '--die-with-parent --new-session';
  return `${nobody} ${nothing}${allowsNetwork ? ' --share-net' : ''}`.split(' ');
}

/** What programs need of the machine, read-only. A list of what is there, because a list of what is not is never whole. */
function system({ allowsNetwork = false, readOnlyPaths = [] }: BubblewrapOptions): string[] {
  const directories = SYSTEM_DIRECTORIES.filter((path) => existsSync(path)).flatMap((path) => {
    const isLink = lstatSync(path).isSymbolicLink();
    return isLink ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
  const names = allowsNetwork ? [...ETC_NAMES, 'resolv.conf'] : ETC_NAMES;
  const settings = names.flatMap((name) => {
    const path = `/etc/${name}`;
    // Some are links to places that are not there inside.
    return existsSync(path) ? ['--ro-bind', realpathSync(path), path] : [];
  });
  const own = `--dir /etc --proc /proc --dev /dev --tmpfs /tmp --tmpfs /var/tmp --dir ${HOME}`.split(' ');
  return [...directories, ...own, ...settings, ...readOnlyPaths.flatMap((path) => ['--ro-bind', path, path])];
}

/** The names by which agents know the workspace in every session. */
function names(workspace: string): string[] {
  const isFree = ({ shown }: { shown: string }) => workspace !== shown && !workspace.startsWith(`${shown}/`);
  return SESSION_PATHS.filter(isFree).flatMap(({ shown, inside }) => ['--symlink', join(workspace, inside), shown]);
}

function bindReadOnly(program: string): string[] {
  const isThere = SYSTEM_DIRECTORIES.some((directory) => program.startsWith(`${directory}/`));
  return isThere ? [] : ['--ro-bind', program, program];
}

function accounts(): string[] {
  return ['--ro-bind-data', `${DATA_FD}`, '/etc/passwd', '--ro-bind-data', `${DATA_FD + 1}`, '/etc/group'];
}

/** Why it does not work, if so. */
async function tryOut(bwrap: string, options: BubblewrapOptions): Promise<string | undefined> {
  try {
    await run(bwrap, [...isolation(options), ...system(options), '--', '/bin/sh', '-c', ':'], {
      env: ENVIRONMENT,
      timeout: TRY_OUT_MS,
      killSignal: 'SIGKILL',
    });
    return undefined;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    return `bubblewrap does not work here (${said || 'it gave no reason'})`;
  }
}

const run = promisify(execFile);
const TRY_OUT_MS = 10_000;
const USER_ID = '1000';
const HOME = '/home/user';

/** All that programs get. What we were started with has secrets in it. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME,
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
};

const SYSTEM_DIRECTORIES = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** No shadow, no keys, no settings of the machine's services. */
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
