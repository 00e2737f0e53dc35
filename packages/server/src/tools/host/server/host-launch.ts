import { realpath } from 'node:fs/promises';
import type { FindProgram } from '../../find-program.ts';
import { explainShortage } from '../../sandbox/explain-shortage.ts';
import type { InstalledPackages } from '../../sandbox/installed-packages.ts';
import type { SandboxEgress } from '../../sandbox/egress.ts';
import type { SandboxGitRelay } from '../../sandbox/git-relay.ts';
import { createNoSandbox } from '../../sandbox/no-sandbox.ts';
import type { Launch, LaunchRequest, Sandbox, SandboxState } from '../../sandbox/sandbox.ts';
import { ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import type { HostPrograms } from '../../builtin/host-programs.ts';
import { findHostProgram, findSandboxedProgram, toSandboxedPath } from './host-program.ts';

/** The settings for starting hosts, with or without a sandbox. */
export interface HostLauncherOptions {
  readonly openSandbox: () => Promise<SandboxState>;
  /** Whether commands run on the whole machine if there is no sandbox. */
  readonly allowsUnsandboxedBash: boolean;
  /** Whether only some hosts may be reached, which only a sandbox can enforce. */
  readonly isNetworkLimited: boolean;
  readonly findProgram: FindProgram;
  readonly limits: ToolLimits;
  /** Further mounts of the sandbox; by default none, and the workspace is writable. */
  readonly openMounts?: (() => Promise<HostMounts>) | undefined;
}

/** Mounts of the sandbox of a session in addition to its workspace. */
export type HostMounts = Pick<LaunchRequest, 'covers'> & {
  readonly isWritable: boolean;
  readonly readOnlyPaths: NonNullable<LaunchRequest['readOnlyPaths']>;
  readonly writablePaths: readonly string[];
  /** The relay through which git in the sandbox reaches the repositories of the session, if it has any. */
  readonly gitRelay?: SandboxGitRelay | undefined;
  /** The proxy through which programs reach other hosts, if the environment allows any. */
  readonly egress?: SandboxEgress | undefined;
  /** The packages of the environment, if any are installed. */
  readonly packages?: InstalledPackages | undefined;
};

/** Prepares the start of the tool host of one session. */
export interface HostLauncher {
  /** Throws a {@link ToolFailure} if commands may not run. */
  checkBash(): Promise<void>;
  prepare(workspace: string): Promise<HostLaunch>;
}

/** The command that starts a host, and the programs that it may use. */
export interface HostLaunch {
  readonly launch: Launch;
  readonly programs: HostPrograms;
  /** Environment variables of shells in addition to the variables of the host. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Creates the launcher. Hosts run in the sandbox if there is one. Otherwise the tools for files run without it: they restrict themselves
 * to the workspace in any case. Commands run without a sandbox only if the operator allows it.
 */
export function createHostLauncher(options: HostLauncherOptions): HostLauncher {
  const { openSandbox, findProgram, limits } = options;
  return {
    checkBash: async () => {
      const state = await openSandbox();
      if (state.type === 'unavailable') checkUnsandboxed(state.reason, options);
    },
    prepare: async (workspace) => {
      await checkWorkspace(workspace);
      const state = await openSandbox();
      const [bash, ripgrep] = await Promise.all([findProgram('bash'), findProgram('rg')]);
      const mounts = await options.openMounts?.();
      if (state.type === 'ready') {
        const place = { sandbox: state.sandbox, workspace, mounts };
        return await explainShortage(async () => launchIn(place, { bash, ripgrep }, limits));
      }
      if (mounts?.isWritable === false) throw new ToolFailure(`a read-only workspace needs a sandbox: ${state.reason}`);
      return launchWithout(workspace, { bash: mayRunBash(options) ? bash : undefined, ripgrep }, limits);
    },
  };
}

interface HostPlace {
  readonly sandbox: Sandbox;
  readonly workspace: string;
  readonly mounts: HostMounts | undefined;
}

function launchIn({ sandbox, workspace, mounts }: HostPlace, found: HostPrograms, limits: ToolLimits): HostLaunch {
  const { node, main, readOnlyPaths } = findSandboxedProgram();
  const [bash, ripgrep] = [toSandboxedPath(found.bash, 'bash'), toSandboxedPath(found.ripgrep, 'rg')];
  const relays = [mounts?.gitRelay, mounts?.egress].filter((relay) => relay !== undefined);
  const launch = sandbox.launch({
    program: node,
    args: [...toArgs(main, limits), ...relays.flatMap(({ socketPath, port }) => [socketPath, String(port)])],
    workspace,
    isWorkspaceWritable: mounts?.isWritable ?? true,
    readOnlyPaths: [
      ...readOnlyPaths,
      ...bash.readOnlyPaths,
      ...ripgrep.readOnlyPaths,
      ...(mounts?.readOnlyPaths ?? []),
      ...relays.flatMap((relay) => relay.readOnlyPaths),
      ...(mounts?.packages?.readOnlyPaths ?? []),
    ],
    writablePaths: mounts?.writablePaths,
    covers: mounts?.covers,
  });
  const environment = { ...mounts?.egress?.environment, ...mounts?.packages?.environment };
  return { launch, programs: { bash: bash.path, ripgrep: ripgrep.path }, environment };
}

function launchWithout(workspace: string, programs: HostPrograms, limits: ToolLimits): HostLaunch {
  const { node, main } = findHostProgram();
  const request = { program: node, args: toArgs(main, limits), workspace, isWorkspaceWritable: true };
  return { launch: createNoSandbox().launch(request), programs, environment: {} };
}

/** Throws if the workspace is a link: a sandbox would follow it and mount its target as the workspace. */
async function checkWorkspace(workspace: string): Promise<void> {
  const real = await realpath(workspace).catch(() => undefined);
  if (real === workspace) return;
  const problem = real === undefined ? 'is not there' : 'is not a directory of its own: a link leads elsewhere';
  throw new ToolFailure(`the workspace ${workspace} ${problem}`);
}

function toArgs(main: string, { toolHostHeapMib }: ToolLimits): readonly string[] {
  return [`--max-old-space-size=${toolHostHeapMib}`, main];
}

function mayRunBash({ allowsUnsandboxedBash, isNetworkLimited }: HostLauncherOptions): boolean {
  return allowsUnsandboxedBash && !isNetworkLimited;
}

function checkUnsandboxed(reason: string, options: HostLauncherOptions): void {
  if (mayRunBash(options)) return;
  if (options.allowsUnsandboxedBash) {
    throw new ToolFailure(
      'the environment of this session limits its network, and without a sandbox nothing keeps commands within it: ' +
        `${reason}. Work with the other tools`,
    );
  }
  throw new ToolFailure(
    `commands only run in a sandbox, and there is none: ${reason}. Work with the other tools, and say to the user ` +
      'that the operator of this server can install bubblewrap, or allow bash without a sandbox',
  );
}
