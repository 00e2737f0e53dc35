import { realpath } from 'node:fs/promises';
import type { FindProgram } from '../../find-program.ts';
import { explainShortage } from '../../sandbox/explain-shortage.ts';
import { createNoSandbox } from '../../sandbox/no-sandbox.ts';
import type { Launch, Sandbox, SandboxState } from '../../sandbox/sandbox.ts';
import { ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import type { HostPrograms } from '../contract/messages.ts';
import { findHostProgram, findSandboxedProgram, toSandboxedPath } from './host-program.ts';

export interface HostLauncherOptions {
  readonly openSandbox: () => Promise<SandboxState>;
  /** Runs commands on the whole machine where there is no sandbox. */
  readonly allowsUnsandboxedBash: boolean;
  /** Only some hosts may be reached, which nothing but a sandbox makes sure of. */
  readonly isNetworkLimited: boolean;
  readonly findProgram: FindProgram;
  readonly limits: ToolLimits;
}

/** How the tool host of one session is started. */
export interface HostLauncher {
  /** Throws a {@link ToolFailure} where commands may not run. */
  checkBash(): Promise<void>;
  prepare(workspace: string): Promise<HostLaunch>;
}

export interface HostLaunch {
  readonly launch: Launch;
  readonly programs: HostPrograms;
}

/**
 * In the sandbox where there is one. Where there is none the tools that work on files run without: they keep themselves
 * to the workspace in any case. Commands run there only if the operator allows it.
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
      if (state.type === 'ready') {
        return await explainShortage(async () => launchIn(state.sandbox, workspace, { bash, ripgrep }, limits));
      }
      return launchWithout(workspace, { bash: mayRunBash(options) ? bash : undefined, ripgrep }, limits);
    },
  };
}

function launchIn(sandbox: Sandbox, workspace: string, found: HostPrograms, limits: ToolLimits): HostLaunch {
  const { node, main, readOnlyPaths } = findSandboxedProgram();
  const [bash, ripgrep] = [toSandboxedPath(found.bash, 'bash'), toSandboxedPath(found.ripgrep, 'rg')];
  const launch = sandbox.launch({
    program: node,
    args: toArgs(main, limits),
    workspace,
    isWorkspaceWritable: true,
    readOnlyPaths: [...readOnlyPaths, ...bash.readOnlyPaths, ...ripgrep.readOnlyPaths],
  });
  return { launch, programs: { bash: bash.path, ripgrep: ripgrep.path } };
}

function launchWithout(workspace: string, programs: HostPrograms, limits: ToolLimits): HostLaunch {
  const { node, main } = findHostProgram();
  const request = { program: node, args: toArgs(main, limits), workspace, isWorkspaceWritable: true };
  return { launch: createNoSandbox().launch(request), programs };
}

/** A sandbox follows a symbolic link, and would have the directory that it leads to as the workspace. */
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
    `commands only run in a sandbox, and there is none: ${reason}. Work with the other tools, and tell the user ` +
      'that the operator of this server can install bubblewrap, or allow bash without a sandbox',
  );
}
