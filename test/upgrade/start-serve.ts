import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cleanEnv } from '../../packages/cli/test-support/processes.ts';

/** Starts the server of any version of the program. */
export async function startServe(program: string, data: string, database: string | undefined) {
  const env = cleanEnv(database === undefined ? {} : { FLEETLOOM_DATABASE: database });
  const args = [program, 'serve', '--json', '--port', '0', '--data', data];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [unknown];
  if (typeof line !== 'string') throw new Error(`${program} ended at its start`);
  const { url, key } = JSON.parse(line) as { url: string; key: string | null };
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return (await ended)[0];
  };
  return { url, key, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}
