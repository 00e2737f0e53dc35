import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { limits } from '../base/limits.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const keys = (...args: string[]) => call(['keys', ...args, '--data', server.directory]);
/** How listing sessions with a key ends; a server looks for new keys once a second. */
const listWith = async (key: string) => {
  const { code, stdout } = await call(['sessions', '--json', '--url', server.url, '--key', key]);
  return [code, stdout.trim().split('\n').filter(Boolean).length];
};

describe('fleetloom keys', () => {
  it('[Y84] a key that is made while the server runs opens its own workspace, and nothing of others', async () => {
    const { requestId } = await server.begin('hello');
    await server.ended(requestId);
    const made = await keys('create', 'alice', '--workspace', 'design');
    expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/^key_\w+ for wrkspc_design\./) });
    expect(made.stdout).toMatch(/^fleetloom_api_[\w-]+\n$/);
    const alice = made.stdout.trim();
    await expect.poll(() => listWith(alice), { timeout: 10_000 }).toEqual([0, 0]);
    expect(await listWith(server.key)).toEqual([0, 1]);
    const second = JSON.parse((await keys('create', 'ci', '--json')).stdout) as { id: string; key: string };
    expect(second).toMatchObject({ kind: 'api', name: 'ci', workspace_id: 'wrkspc_default' });
    await expect.poll(() => listWith(second.key), { timeout: 10_000 }).toEqual([0, 1]);

    const listed = await keys('list');
    expect(listed.stdout).toMatch(/first key\n.* wrkspc_design .* alice\n.* ci\n$/);
    for (const secret of [alice, second.key, server.key]) expect(listed.stdout).not.toContain(secret);
    expect((await keys('list', '--json')).stdout.trim().split('\n')).toHaveLength(3);

    expect(await keys('revoke', second.id)).toEqual({ code: 0, stdout: `${second.id}\n`, stderr: '' });
    await expect.poll(() => listWith(second.key), { timeout: 10_000 }).toEqual([3, 0]);
  });

  it('[Y84] errors are reported with a fix, and nothing is half done', async () => {
    const [first] = (await keys('list', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(await keys('revoke', first!, 'key_nobody')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('There is no key key_nobody.\n  "fleetloom keys list" lists the keys.'),
    });
    expect(await listWith(server.key)).toEqual([0, 1]);
    expect((await keys('create', 'x', '--workspace', 'a b')).code).toBe(2);
    expect((await keys('create', ' ')).code).toBe(2);
    expect((await keys('create', 'x'.repeat(limits.keyNameCharsMax))).code).toBe(0);
    expect((await keys('create', 'x'.repeat(limits.keyNameCharsMax + 1))).code).toBe(2);
    expect((await keys('create', 'x', '--database', 'mysql://x')).code).toBe(2);
  });

  it('[Y84] where there is no server yet it makes the key that was asked for, and no other', async () => {
    const data = await mkdtemp(join(tmpdir(), 'fleetloom-keys-'));
    const there = (...args: string[]) => call(['keys', ...args, '--data', data]);
    expect(await there('list')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('no keys') });
    expect((await there('create', 'mine')).code).toBe(0);
    expect((await there('list', '--json')).stdout.trim().split('\n')).toEqual([expect.stringContaining('"mine"')]);
    await rm(data, { recursive: true });
  });
});
