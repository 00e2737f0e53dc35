import type { ChildProcess } from 'node:child_process';
import type { Launch } from '../../sandbox/sandbox.ts';
import { startLaunch as startInSandbox } from '../../sandbox/start-launch.ts';

export interface StartLaunchOptions {
  readonly cwd: string;
  /** Variables in addition to the variables of the launch. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a launch with pipes for stdin, stdout and stderr. Throws the reason if the machine cannot start it. */
export async function startLaunch(launch: Launch, options: StartLaunchOptions): Promise<ChildProcess> {
  let reason: Error | undefined;
  const child = startInSandbox(launch, { ...options, stdio: ['pipe', 'pipe', 'pipe', 'ignore'] }, (error) => {
    reason ??= error;
  });
  if (child?.pid !== undefined) return child;
  // Most errors are reported in the next tick.
  await new Promise((resolve) => setImmediate(resolve));
  throw reason ?? new Error(`${launch.file} was not started`);
}
