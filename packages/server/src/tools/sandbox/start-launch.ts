import type { ChildProcess, StdioOptions } from 'node:child_process';
import { startProcess } from '../../base/process/start-process.ts';
import { DATA_FD, type Launch } from './sandbox.ts';

export interface StartLaunchOptions {
  readonly cwd: string;
  /** Descriptors 0 to 3. */
  readonly stdio: readonly [StdioEntry, StdioEntry, StdioEntry, StdioEntry];
  /** Added to the variables of the launch. */
  readonly env?: Readonly<Record<string, string>>;
}

type StdioEntry = Exclude<StdioOptions, string>[number];

/**
 * Starts a launch in its own process group, and hands its data to it. Fails as {@link startProcess} does. Data that the
 * program ended without reading (ECONNRESET) is not a failure of its own: its exit explains it.
 */
export function startLaunch(
  launch: Launch,
  { cwd, stdio, env }: StartLaunchOptions,
  onError: (error: Error) => void,
): ChildProcess | undefined {
  const pipes = launch.data.map(() => 'pipe' as const);
  const options = { cwd, env: { ...launch.env, ...env }, detached: true, stdio: [...stdio, ...pipes] };
  const child = startProcess(launch.file, launch.args, options, (error) => {
    if (!('code' in error) || error.code !== 'ECONNRESET') onError(error);
  });
  for (const [index, bytes] of launch.data.entries()) {
    const pipe = child?.stdio[DATA_FD + index];
    if (pipe !== null && pipe !== undefined && 'end' in pipe) pipe.end(bytes);
  }
  return child;
}
