import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { withServer } from '../../server/server.suite.ts';
import { noSandbox } from '../../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { claudeCodeEnvironment } from '../../support/claude-code.ts';
import { ClaudeServer, type ServerHandle } from '../claude-server.ts';

/**
 * One server with the real program for all tests of a block: call it there, and the result in a test. The programs get
 * `variables` too.
 */
export function shareClaudeServer(path: string, variables: Readonly<Record<string, string>> = {}): () => ClaudeServer {
  let server: ClaudeServer | undefined;
  let close = () => {};
  let running: Promise<void> | undefined;
  let home = '';

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'fleetloom-claude-'));
    const claudeCode = {
      program: path,
      environment: claudeCodeEnvironment(home, variables),
      passedVariables: Object.keys(variables),
      workspaces: ['wrkspc_default'],
      isUnsandboxed: noSandbox !== undefined,
    };
    const closing = new Promise<void>((resolve) => (close = resolve));
    await new Promise<void>((resolve, reject) => {
      const use = async (test: ServerHandle) => {
        server = new ClaudeServer(test);
        resolve();
        await closing;
      };
      running = withServer(use, { claudeCode, allowedPrivateHosts: ['127.0.0.1'] });
      running.catch(reject);
    });
  });
  afterAll(async () => {
    close();
    await running;
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });
  return () => server!;
}
