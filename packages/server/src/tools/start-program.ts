import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { startProcess } from '../base/process/start-process.ts';

/** Starts a program, or throws why the machine did not start it: no descriptors, no processes, no such file. */
export async function startProgram(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  let reason: Error | undefined;
  const child = startProcess(file, args, options, (error) => {
    reason ??= error;
  });
  if (child?.pid !== undefined) return child;
  // Most reasons are reported in the next tick.
  await new Promise((resolve) => setImmediate(resolve));
  throw reason ?? new Error(`${file} was not started`);
}
