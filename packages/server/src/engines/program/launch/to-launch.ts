import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ProgramSandbox, SandboxLaunch, SandboxMounts, SandboxRequest } from '../program-sandbox.ts';
import { findInstallation, type Installation } from './find-installation.ts';
import type { ProgramHome } from './program-homes.ts';
import { toRelay } from './relay.ts';

/** What the process of a program depends on. */
export interface LaunchOptions {
  /** Null: as any other program of this machine. */
  readonly sandbox: ProgramSandbox | null;
  readonly path: string;
  /** The files of the program; by default those that belong to its path. */
  readonly installation?: Installation | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The workspace of the session. */
  readonly directory: string;
  /** What the sandbox has beside the workspace. */
  readonly mounts?: SandboxMounts | undefined;
  readonly home: ProgramHome;
  /** The gateway's socket, which is all the network that a sandbox has. */
  readonly socketPath: string | null;
  /** The file with the operator's login, if the program is to use it, and where the program looks for it. */
  readonly login: { readonly file: string; readonly at: string } | null;
}

/** The process to start for a program. */
export interface ProgramLaunch extends SandboxLaunch {
  /** Whether the program has a relay before it, which takes orders on the fourth descriptor. */
  readonly hasRelay: boolean;
}

/** How to start the program of a session. */
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

/** Its own directory, with the login in the place where it looks for it. */
function toOwnFiles({ home, login }: LaunchOptions): Pick<SandboxRequest, 'writablePaths' | 'writableFiles'> {
  if (home.type !== 'own') return { writablePaths: [], writableFiles: [] };
  // Renewed when it is used, so it is written too; a copy would make the original worthless.
  const writableFiles = login === null ? [] : [{ path: login.file, at: login.at }];
  return { writablePaths: [home.path], writableFiles };
}

/** Where programs are in every sandbox, and the Node that it has for its relay. */
function toSearchPath(node: string, passed: string | undefined): string {
  const directories = (passed ?? SYSTEM_PATH).split(':');
  const nodes = dirname(node);
  return [...directories, ...(directories.includes(nodes) ? [] : [nodes])].join(':');
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
