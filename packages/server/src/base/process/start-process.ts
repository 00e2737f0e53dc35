import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/**
 * Starts a program. Unlike `spawn` it never throws and never emits an `error` event without a listener, both of which
 * happen when the machine has no descriptors or processes left (EMFILE, EAGAIN): the failure goes to `onError`. Errors of
 * the program's pipes go there as well, except a closed stdin (EPIPE), which the exit of the program explains.
 *
 * Returns undefined when the program could not be started at all; `onError` has been called by then.
 */
export function startProcess(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
  onError: (error: Error) => void,
): ChildProcess | undefined {
  let child: ChildProcess;
  try {
    checkDescriptors(options);
    child = spawn(file, args, options);
  } catch (error) {
    onError(error instanceof Error ? error : new Error(String(error)));
    return undefined;
  }
  child.on('error', onError);
  for (const pipe of child.stdio ?? []) {
    pipe?.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') onError(error);
    });
  }
  return child;
}

/**
 * Throws EMFILE if there are not enough descriptors. When `spawn` runs out of them half way, Node does not close those
 * that it has opened: each attempt would leak some, and a server that is short of descriptors would never recover.
 */
function checkDescriptors({ stdio }: SpawnOptions): void {
  const pipes = Array.isArray(stdio) ? stdio.length : STANDARD_PIPES;
  const opened: number[] = [];
  try {
    // Two ends of each pipe, and some for the start itself.
    while (opened.length < pipes * 2 + START_DESCRIPTORS) opened.push(openSync(devNull, 'r'));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

const STANDARD_PIPES = 3;
const START_DESCRIPTORS = 8;
