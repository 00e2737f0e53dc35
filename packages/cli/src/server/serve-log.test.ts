import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProgram, startProgram } from '../../test-support/processes.ts';

const data = mkdtempSync(join(tmpdir(), 'fleetloom-serve-log-'));
beforeAll(buildProgram);
afterAll(() => rmSync(data, { recursive: true, force: true }));

it('[W24] serve --log json logs every request on standard error, without keys; --rate-limit rejects with 429', async () => {
  const args = ['serve', '--json', '--port', '0', '--data', data, '--log', 'json', '--rate-limit', '1'];
  const running = startProgram(args, {});
  await running.saw(/\n/);
  const { url, key } = JSON.parse(running.out.stdout) as { url: string; key: string };
  const ask = () => fetch(`${url}/v1/agents`, { headers: { 'x-api-key': key } });
  const statuses = [(await ask()).status, (await ask()).status];
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
  expect(statuses).toEqual([200, 429]);
  const lines = running.out.stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(lines).toMatchObject([
    { message: 'request', method: 'GET', path: '/v1/agents', route: 'agents.list', status: 200, error: null },
    { message: 'request', status: 429, error: 'rate_limited' },
  ]);
  expect(running.out.stderr).not.toContain(key);
});
