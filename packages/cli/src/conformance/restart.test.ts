import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildProgram, MAIN } from '../../test-support/processes.ts';
import { allChecks } from './all-checks.ts';
import { failuresOf, makeDirectory, numbersOf, reportOn } from './conformance.suite.ts';
import { officialSdk } from './harness/official-sdk.ts';

beforeAll(buildProgram);

describe('a server that is killed', () => {
  it('[Q3] after SIGKILL and a restart ids, history and open approvals are unchanged, and work continues', async () => {
    const data = await makeDirectory();
    let running = await serve(data, 0);
    const { url, port, key } = running;
    const restart = async () => {
      running.process.kill('SIGKILL');
      await once(running.process, 'exit');
      running = await serve(data, port);
    };
    try {
      const checks = allChecks.filter(({ needs }) => needs.includes('restart'));
      const report = await reportOn({ url, key: key!, restart }, officialSdk, checks);
      expect(failuresOf(report)).toEqual([]);
      expect(numbersOf(report, 'passed')).toEqual([114, 126, 158]);
    } finally {
      running.process.kill('SIGKILL');
      await rm(data, { recursive: true, force: true });
    }
  }, 240_000);
});

interface Running {
  readonly process: ChildProcess;
  readonly url: string;
  readonly port: number;
  readonly key: string | null;
}

/** The real program. It says where it listens before it does anything else. */
async function serve(data: string, port: number): Promise<Running> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--json', '--port', String(port), '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ANTHROPIC_API_KEY: undefined, ANTHROPIC_AUTH_TOKEN: undefined, NODE_OPTIONS: undefined },
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { process: child, ...(JSON.parse(line) as Omit<Running, 'process'>) };
}
