import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { SHORTAGE } from './explain-shortage.ts';
import type { Launch, Sandbox } from './sandbox.ts';
import { startLaunch } from './start-launch.ts';

/** The limits that a program in the sandbox found, or why it could not be started. */
export type Trial =
  | { readonly type: 'works' /** `/proc/self/limits` inside. */; readonly limits: string }
  | { readonly type: 'fails'; readonly reason: string }
  /** The trial is inconclusive: the machine had no descriptors or processes left, or was too slow. */
  | { readonly type: 'not_started'; readonly reason: string };

/** Starts a small program in the sandbox. Whether it works depends on the kernel and on the container of the server. */
export async function tryOut(sandbox: Sandbox): Promise<Trial> {
  const launch = prepare(sandbox);
  if (launch instanceof Error)
    return { type: SHORTAGE.test(launch.message) ? 'not_started' : 'fails', reason: launch.message };
  let failure: Error | undefined;
  const onError = (error: Error): void => {
    failure ??= error;
  };
  const child = startLaunch(launch, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe', 'ignore'] }, onError);
  if (child?.pid === undefined || child.stdout === null || child.stderr === null) {
    return { type: 'not_started', reason: failure?.message ?? 'it could not be started' };
  }
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, TRIAL_MS);
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', (status) => resolve(status));
  });
  const [status, limits, complaint] = await Promise.all([ended, readAll(child.stdout), readAll(child.stderr)]);
  clearTimeout(timer);
  if (status === 0) return { type: 'works', limits };
  if (isLate) return { type: 'not_started', reason: `it did not end within ${TRIAL_MS} ms` };
  const reason = complaint.trim() || (failure?.message ?? 'it gave no reason');
  return { type: SHORTAGE.test(reason) ? 'not_started' : 'fails', reason };
}

const TRIAL_MS = 10_000;

function prepare(sandbox: Sandbox): Launch | Error {
  try {
    return sandbox.launch({
      program: '/bin/sh',
      args: ['-c', 'while read -r line; do echo "$line"; done < /proc/self/limits'],
      workspace: '/usr',
      isWorkspaceWritable: false,
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What was written until the program ended. A broken pipe is explained by its status. */
async function readAll(stream: Readable): Promise<string> {
  return await text(stream).catch(() => '');
}
