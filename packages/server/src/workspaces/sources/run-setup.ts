import { FleetloomError } from '../../base/errors.ts';
import { createNoSandbox } from '../../tools/sandbox/no-sandbox.ts';
import type { Sandbox, SandboxState } from '../../tools/sandbox/sandbox.ts';
import { runLaunch } from '../../tools/sandbox/run-launch.ts';
import { workspaceLimits } from '../limits.ts';
import type { SetupResult, WorkspaceMounts } from '../workspace-source.ts';

/** Runs the setup command of a workspace with the same files as the agents' commands, and without network. */
export type RunSetup = (request: SetupRequest) => Promise<SetupResult>;

/** A setup command and its workspace. */
export interface SetupRequest {
  readonly command: string;
  readonly workspace: string;
  /** The directory in the workspace in which the command runs; by default the workspace itself. */
  readonly inside?: string | undefined;
  readonly mounts: WorkspaceMounts;
  readonly signal?: AbortSignal | undefined;
}

/** How setup commands are run. */
export interface SetupOptions {
  readonly openSandbox: () => Promise<SandboxState>;
  /** Whether commands may run without a sandbox. */
  readonly allowsUnsandboxed: boolean;
  readonly timeoutMs?: number | undefined;
}

/** Creates the runner of setup commands. */
export function createSetupRunner(options: SetupOptions): RunSetup {
  const { timeoutMs = workspaceLimits.setupTimeoutMs } = options;
  return async ({ command, workspace, inside = '.', mounts, signal }) => {
    const sandbox = await chooseSandbox(options);
    const launch = sandbox.launch({
      program: '/bin/bash',
      // Changes directory in the sandbox: an earlier command may have replaced the directory by a link.
      args: ['-c', 'cd -- "$0" && exec /bin/bash -c "$1"', `./${inside}`, command],
      workspace,
      isWorkspaceWritable: mounts.isWritable,
      readOnlyPaths: mounts.readOnlyPaths,
      writablePaths: mounts.writablePaths,
      covers: mounts.covers,
    });
    const startedAt = performance.now();
    const outputBytesMax = workspaceLimits.setupOutputBytesMax;
    const ended = await runLaunch(launch, { cwd: workspace, timeoutMs, outputBytesMax, signal });
    return { command, ...ended, durationMs: Math.round(performance.now() - startedAt) };
  };
}

async function chooseSandbox({ openSandbox, allowsUnsandboxed }: SetupOptions): Promise<Sandbox> {
  const state = await openSandbox();
  if (state.type === 'ready') return state.sandbox;
  if (allowsUnsandboxed) return createNoSandbox();
  throw new FleetloomError({
    code: 'setup_failed',
    kind: 'caller',
    problem: `setup commands run in a sandbox, and there is none: ${state.reason}`,
    advice: 'leave setup out, or install bubblewrap on the machine of the server',
  });
}
