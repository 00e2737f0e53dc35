import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../../server/server.suite.ts';
import type { ServerOptions } from '../../../packages/server/src/server.ts';
import { noSandbox } from '../../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { buildProgram } from '../../support/build-program.ts';
import { claudeCodeEnvironment } from '../../support/claude-code.ts';
import { repositoryRoot } from '../../support/root.ts';
import type { ServerHandle } from '../claude-server.ts';

export interface HostServer {
  readonly handle: ServerHandle;
  /** Ends the server and removes all of its files and processes. */
  readonly close: () => Promise<void>;
}

/**
 * A server in a process of its own. Its restart kills the process, which cannot say anything then, or asks it to end, and starts
 * another one. `options` are passed on as JSON.
 */
export async function openHostServer(path: string, options: Partial<ServerOptions> = {}): Promise<HostServer> {
  const code = join(repositoryRoot, '.cache', `claude-code-scenarios-${process.pid}`);
  await buildProgram(code, { host: fileURLToPath(new URL('../host.ts', import.meta.url)) });
  const home = await mkdtemp(join(tmpdir(), 'fleetloom-claude-'));
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-claude-host-'));
  const place = noSandbox === undefined ? 'sandboxed' : 'unsandboxed';
  const settings = [directory, path, JSON.stringify(claudeCodeEnvironment(home)), place, JSON.stringify(options)];
  let end = async (_signal: 'SIGKILL' | 'SIGTERM') => {};

  const start = async (): Promise<ServerHandle> => {
    const startedAt = Date.now();
    const child = spawn(process.execPath, [join(code, 'host.mjs'), ...settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    end = async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, 'exit');
    };
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    const url = `http://127.0.0.1:${Number(port.toString())}`;
    const restart = async (signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL') => {
      await end(signal);
      return start();
    };
    return { url, key: 'any', client: connect(url), directory, startedAt, restart };
  };
  const close = async () => {
    await end('SIGKILL');
    for (const each of [code, home, directory]) await rm(each, { recursive: true, force: true, maxRetries: 5 });
  };
  return { handle: await start(), close };
}
