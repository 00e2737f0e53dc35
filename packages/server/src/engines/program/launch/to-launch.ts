import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ProgramSandbox, SandboxLaunch, SandboxMounts, SandboxRequest } from '../program-sandbox.ts';
import { findInstallation, type Installation } from './find-installation.ts';
import type { ProgramHome } from './program-homes.ts';
import { toRelay } from './relay.ts';

/** The input of starting a program's process. */
export interface LaunchOptions {
  /** Null: the program runs without a sandbox, like any other program of this machine. */
  readonly sandbox: ProgramSandbox | null;
  readonly path: string;
  /** The files of the program; by default found from its path. */
  readonly installation?: Installation | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The workspace of the session. */
  readonly directory: string;
  /** The mounts of the sandbox beside the workspace. */
  readonly mounts?: SandboxMounts | undefined;
  readonly home: ProgramHome;
  /** The gateway's socket, which is the only network of a sandbox. */
  readonly socketPath: string | null;
  /** The file with the operator's login, if the program is to use it, and where the program looks for it. */
  readonly login: { readonly file: string; readonly at: string } | null;
}

/** The process to start for a program. */
export interface ProgramLaunch extends SandboxLaunch {
  /** Whether the program runs under a relay, which takes orders on the fourth descriptor. */
  readonly hasRelay: boolean;
}

/** The process that starts the program of a session. */
export function toLaunch(options: LaunchOptions): ProgramLaunch {
  const { sandbox, path, args, env, directory } = options;
  if (sandbox === null) return { file: path, args, env, data: [], hasRelay: false };
  const node = realpathSync(process.execPath);
  const { program, paths } = options.installation ?? findInstallation(path);
  const { socketPath, mounts } = options;
  const own = toOwnFiles(options);
  if (socketPath === null) throw new Error('a program in a sandbox needs the gateway');
  const { gitRelay, egress, packages } = mounts ?? {};
  const others = gitRelay === undefined ? [] : [{ socketPath: gitRelay.socketPath, port: gitRelay.port }];
  const launch = sandbox.launch({
    ...toRelay({ node, socketPath, program, args, others }),
    workspace: directory,
    isWorkspaceWritable: mounts?.isWritable ?? true,
    readOnlyPaths: [
      node,
      socketPath,
      ...paths,
      ...(mounts?.readOnlyPaths ?? []),
      ...(gitRelay?.readOnlyPaths ?? []),
      ...(egress?.trust.readOnlyPaths ?? []),
      ...(packages?.readOnlyPaths ?? []),
    ],
    writablePaths: [...own.writablePaths, ...(mounts?.writablePaths ?? [])],
    writableFiles: own.writableFiles,
    covers: mounts?.covers ?? [],
    // A secret may have the name of a variable that the program itself needs.
    environment: {
      ...egress?.trust.environment,
      ...packages?.environment,
      ...env,
      PATH: [...(packages?.searchPath ?? []), toSearchPath(node, env['PATH'])].join(':'),
    },
  });
  return { ...launch, hasRelay: true };
}

/** The writable files of the program: its home, with the login at the path where the program looks for it. */
function toOwnFiles({ home, login }: LaunchOptions): Pick<SandboxRequest, 'writablePaths' | 'writableFiles'> {
  if (home.type !== 'own') return { writablePaths: [], writableFiles: [] };
  // The login is writable, because it is renewed when it is used; renewing a copy would invalidate the original.
  const writableFiles = login === null ? [] : [{ path: login.file, at: login.at }];
  return { writablePaths: [home.path], writableFiles };
}

/** The PATH of a sandbox: the given or the system folders, and the folder of the relay's Node. */
function toSearchPath(node: string, passed: string | undefined): string {
  const directories = (passed ?? SYSTEM_PATH).split(':');
  const nodes = dirname(node);
  return [...directories, ...(directories.includes(nodes) ? [] : [nodes])].join(':');
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
