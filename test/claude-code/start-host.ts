import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { claudeCodeEnvironment } from '../support/claude-code.ts';

export interface HostChoice {
  /** Where `buildProgram` put `host.mjs`. */
  readonly code: string;
  /** The claude program. */
  readonly path: string;
  readonly directory: string;
  readonly home: string;
  readonly place: string;
}

/** A server with the real program in a process of its own, which a test can kill. */
export async function startHost({ code, path, directory, home, place }: HostChoice) {
  const environment = JSON.stringify(claudeCodeEnvironment(home));
  const child: ChildProcess = spawn(process.execPath, [join(code, 'host.mjs'), directory, path, environment, place], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = (await once(child.stdout!, 'data')) as [Buffer];
  return { child, port: Number(said.toString()) };
}
