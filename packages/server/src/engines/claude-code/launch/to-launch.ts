import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProgramHome } from '../to-environment.ts';
import { findInstallation } from './find-installation.ts';
import { CONFIG, LOGIN } from './program-homes.ts';
import { toRelay } from './relay.ts';

/** Where a program runs so that it reaches only what it is given. */
export interface ProgramSandbox {
  launch(request: SandboxRequest): SandboxLaunch;
}

export interface SandboxRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly workspace: string;
  readonly isWorkspaceWritable: boolean;
  readonly readOnlyPaths: readonly string[];
  readonly writablePaths: readonly string[];
  readonly writableFiles: readonly { readonly path: string; readonly at: string }[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface SandboxLaunch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it reads from its descriptors, from the fifth on. */
  readonly data: readonly (string | Uint8Array)[];
}

export interface LaunchOptions {
  /** Null: as any other program of this machine. */
  readonly sandbox: ProgramSandbox | null;
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The workspace of the session. */
  readonly directory: string;
  readonly home: ProgramHome;
  /** The gateway's socket, which is all the network that a sandbox has. */
  readonly socketPath: string | null;
  /** The file with the operator's login, if the program is to use it. */
  readonly loginFile: string | null;
}

export interface ProgramLaunch extends SandboxLaunch {
  /** Whether the program has a relay before it, which takes orders on the fourth descriptor. */
  readonly hasRelay: boolean;
}

/** How to start the program of a session. */
export function toLaunch(options: LaunchOptions): ProgramLaunch {
  const { sandbox, path, args, env, directory } = options;
  if (sandbox === null) return { file: path, args, env, data: [], hasRelay: false };
  const node = realpathSync(process.execPath);
  const { program, paths } = findInstallation(path);
  const { socketPath } = options;
  if (socketPath === null) throw new Error('a program in a sandbox needs the gateway');
  const launch = sandbox.launch({
    ...toRelay({ node, socketPath, program, args }),
    workspace: directory,
    isWorkspaceWritable: true,
    readOnlyPaths: [node, socketPath, ...paths],
    ...toOwnFiles(options),
    environment: { ...env, PATH: toSearchPath(node, env['PATH']) },
  });
  return { ...launch, hasRelay: true };
}

/** Its own directory, with the login in the place where it looks for it. */
function toOwnFiles({ home, loginFile }: LaunchOptions): Pick<SandboxRequest, 'writablePaths' | 'writableFiles'> {
  if (home.type !== 'own') return { writablePaths: [], writableFiles: [] };
  const at = join(home.path, CONFIG, LOGIN);
  // Renewed when it is used, so it is written too; a copy would make the original worthless.
  const writableFiles = loginFile === null ? [] : [{ path: loginFile, at }];
  return { writablePaths: [home.path], writableFiles };
}

/** Where programs are in every sandbox, and the Node that it has for its relay. */
function toSearchPath(node: string, passed: string | undefined): string {
  const directories = (passed ?? SYSTEM_PATH).split(':');
  const nodes = dirname(node);
  return [...directories, ...(directories.includes(nodes) ? [] : [nodes])].join(':');
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
