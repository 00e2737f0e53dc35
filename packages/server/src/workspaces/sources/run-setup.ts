import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { FleetloomError } from '../../base/errors.ts';
import { createNoSandbox } from '../../tools/sandbox/no-sandbox.ts';
import type { Sandbox, SandboxState } from '../../tools/sandbox/sandbox.ts';
import { startLaunch } from '../../tools/sandbox/start-launch.ts';
import { workspaceLimits } from '../limits.ts';
import type { SetupResult, WorkspaceMounts } from '../workspace-source.ts';

/** Runs the setup command of a workspace with what the agents' own commands have: the same files, and no network. */
export type RunSetup = (request: SetupRequest) => Promise<SetupResult>;

/** A setup command and its workspace. */
export interface SetupRequest {
  readonly command: string;
  readonly workspace: string;
  readonly mounts: WorkspaceMounts;
  readonly signal?: AbortSignal | undefined;
}

/** How setup commands are run. */
export interface SetupOptions {
  readonly openSandbox: () => Promise<SandboxState>;
  /** Whether commands may run where there is no sandbox. */
  readonly allowsUnsandboxed: boolean;
  readonly timeoutMs?: number | undefined;
}

/** Creates the runner of setup commands. */
export function createSetupRunner(options: SetupOptions): RunSetup {
  const { timeoutMs = workspaceLimits.setupTimeoutMs } = options;
  return async ({ command, workspace, mounts, signal }) => {
    const sandbox = await chooseSandbox(options);
    const launch = sandbox.launch({
      program: '/bin/bash',
      args: ['-c', command],
      workspace,
      isWorkspaceWritable: mounts.isWritable,
      readOnlyPaths: mounts.readOnlyPaths,
      writablePaths: mounts.writablePaths,
      covers: mounts.covers,
    });
    const startedAt = performance.now();
    return await new Promise((resolve, reject) => {
      const child = startLaunch(launch, { cwd: workspace, stdio: ['ignore', 'pipe', 'pipe', 'ignore'] }, reject);
      if (child?.stdout == null || child.stderr == null) return;
      const tail = new Tail();
      for (const stream of [child.stdout, child.stderr]) tail.read(stream);
      const stop = () => killGroup(child);
      const timer = setTimeout(stop, timeoutMs);
      signal?.addEventListener('abort', stop, { once: true });
      child.on('close', (code) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
        resolve({ command, code, ...tail.end(), durationMs: Math.round(performance.now() - startedAt) });
      });
      if (signal?.aborted) stop();
    });
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

/** The end of an output, which may be long. */
class Tail {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  read(stream: Readable): void {
    stream.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      while (this.#bytes - this.#chunks[0]!.length >= workspaceLimits.setupOutputBytesMax) {
        this.#bytes -= this.#chunks.shift()!.length;
        this.#isCut = true;
      }
    });
  }

  end(): { readonly output: string; readonly isCut: boolean } {
    const all = Buffer.concat(this.#chunks);
    const kept = all.subarray(Math.max(0, all.length - workspaceLimits.setupOutputBytesMax));
    return { output: kept.toString(), isCut: this.#isCut || kept.length < all.length };
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
  // What it has started may hold its pipes open.
  for (const pipe of child.stdio) pipe?.destroy();
}
