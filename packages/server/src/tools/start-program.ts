import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { startProcess } from '../base/process/start-process.ts';

/** Starts a program. Throws the reason if the machine cannot start it: no descriptors, no processes, no such file. */
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
  // Most errors are reported in the next tick.
  await new Promise((resolve) => setImmediate(resolve));
  throw reason ?? new Error(`${file} was not started`);
}
