import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { MAIN } from '../../../packages/cli/test-support/processes.ts';

/** A server that the built command line started in a process of its own. */
export interface StartedServer {
  readonly url: string;
  readonly port: number;
  readonly key: string;
  /** The login link that a user would open. */
  readonly link: string;
  /** Ends the process without any chance to save something. */
  readonly kill: () => Promise<void>;
}

/** `fleetloom start` with these options. The process ends with the test. */
export async function startServerProcess(dataDirectory: string, ...options: readonly string[]): Promise<StartedServer> {
  const env = { ...process.env, NODE_OPTIONS: undefined, ANTHROPIC_API_KEY: undefined, FLEETLOOM_URL: undefined };
  const args = [MAIN, 'start', '--json', '--no-browser', '--data', dataDirectory, ...options];
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: dataDirectory,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  };
  onTestFinished(kill);
  let problems = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (problems += text));
  let printed = '';
  for await (const text of child.stdout!.setEncoding('utf8')) {
    printed += String(text);
    if (!printed.includes('\n')) continue;
    const { url, port, key, dashboard } = JSON.parse(printed) as Record<string, string> & { port: number };
    return { url: url!, port, key: key!, link: dashboard!, kill };
  }
  throw new Error(`the server did not start: ${problems}`);
}
