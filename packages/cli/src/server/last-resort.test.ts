import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { buildProgram, cleanEnv, MAIN } from '../../test-support/processes.ts';
import { limits } from '../base/limits.ts';

beforeAll(buildProgram, 300_000);

it('[C27] an error that no code handles is logged with its stack, the server closes, and the process exits with 70', async () => {
  const { code, stderr } = await serveAnd(`setTimeout(() => { throw new Error('boom'); }, 1)`);
  expect(stderr).toMatch(/unexpected error, please report it: Error: boom\n +at /);
  expect(code).toBe(70);
});

it('[C27] so is a promise that is rejected without a handler', async () => {
  const { code, stderr } = await serveAnd(`Promise.reject(new Error('dropped'))`);
  expect(stderr).toContain('Error: dropped');
  expect(code).toBe(70);
});

it('[C27] a server that does not close within 5 s is ended, and so is one that fails again while it closes', async () => {
  expect(limits.lastResortMs).toBe(5_000);
  const { code, stderr } = await serveAnd(
    `setTimeout(() => { throw new Error('first'); }, 1); setTimeout(() => { throw new Error('second'); }, 2)`,
  );
  expect(stderr).toContain('first');
  expect(code).toBe(70);
});

/** A real server process in which `code` runs as soon as it serves. */
async function serveAnd(code: string): Promise<{ code: number | null; stderr: string }> {
  const data = mkdtempSync(join(tmpdir(), 'fleetloom-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const hook = `const write = process.stdout.write; process.stdout.write = function (text, ...rest) {
    const done = write.call(this, text, ...rest); if (String(text).includes('http')) { process.stdout.write = write; setTimeout(() => { ${code} }, 50); } return done; };`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, MAIN];
  const child = spawn(process.execPath, [...args, 'serve', '--open', '--port', '0', '--data', data], {
    env: cleanEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  child.stdout.resume();
  const exited = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code: exited, stderr };
}
