import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';

/** The driver of the server, which writes to its database as a user with access to the file does. */
const { DatabaseSync } = createRequire(new URL('../../../server/package.json', import.meta.url))(
  '@photostructure/sqlite',
) as { DatabaseSync: new (path: string) => { exec(statement: string): void; close(): void } };

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const keys = (...args: string[]) => call(['keys', ...args, '--data', server.directory]);
const ask = (...args: string[]) => call([...args, '--url', server.url, '--key', server.key]);

describe('identity and audit', () => {
  it('[ID6, Y462] keys are created with limits, listed with them and rotated; a wrong limit is a usage error and creates nothing', async () => {
    const limits = ['--scope', 'run,read', '--expires', '90d', '--directory', '/srv', '--engine', 'codex'];
    const { id } = JSON.parse((await keys('create', 'ci', ...limits, '--json')).stdout) as { id: string };
    const listed = (await keys('list', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string });
    expect(listed.find((key) => key.id === id)).toMatchObject({
      scopes: ['read', 'run'],
      directories: ['/srv'],
      engines: ['codex'],
      expires_at: expect.any(String),
      last_used_at: null,
    });
    expect((await keys('list')).stdout).toMatch(/SCOPES +EXPIRES +LAST USE +ONLY FOR[\s\S]*read,run.* \/srv,codex /);
    const rotated = await keys('rotate', id, '--overlap', '0');
    expect(rotated).toMatchObject({ code: 0, stderr: expect.stringContaining('does not work any more') });
    expect(rotated.stdout).toMatch(/^fleetloom_api_[\w-]+\n$/);
    expect((await keys('rotate', 'key_none')).code).toBe(4);
    for (const wrong of [
      ['--scope', 'everything'],
      ['--expires', '2020-01-01'],
      ['--expires', 'tomorrow'],
      ['--engine', 'x y'],
    ]) {
      expect([wrong, (await keys('create', 'wrong', ...wrong)).code]).toEqual([wrong, 2]);
    }
    expect((await keys('rotate', id, '--overlap', '91d')).code).toBe(2);
    expect((await keys('list')).stdout).not.toContain('wrong');
  });

  it('[ID8] a login link has a role, and logins are listed and revoked', async () => {
    const opened = await ask('open', '--role', 'viewer', '--json');
    const { dashboard } = JSON.parse(opened.stdout) as { dashboard: string };
    const visit = await fetch(dashboard);
    const cookie = visit.headers.get('set-cookie')!.split(';')[0]!;
    const read = async () => (await fetch(`${server.url}/v1/agents`, { headers: { cookie } })).status;
    expect(await read()).toBe(200);
    expect((await ask('open', '--role', 'king', '--json')).code).toBe(2);
    const [login] = (await ask('logins', '--json')).stdout.trim().split('\n');
    const { id, role } = JSON.parse(login!) as { id: string; role: string };
    expect(role).toBe('viewer');
    expect((await ask('logins')).stdout).toContain(id);
    expect(await ask('logins', 'revoke', id)).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect(await read()).toBe(401);
    expect((await ask('logins', 'revoke', id)).code).toBe(4);
  });

  it('[ID25] the audit log is printed as JSON lines and verified, with an anchor of an earlier verification', async () => {
    const verified = await ask('audit', '--verify');
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+:[0-9a-f]{64}\n$/) });
    const anchor = verified.stdout.trim();
    await ask('open', '--role', 'viewer', '--json');
    const lines = (await ask('audit')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number });
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    expect((await ask('audit', '--after', '1')).stdout.trim().split('\n')).toHaveLength(lines.length - 1);
    expect((await ask('audit', '--verify', '--anchor', anchor)).code).toBe(0);
    const [seq, hash] = anchor.split(':');
    const other = await ask('audit', '--verify', '--anchor', `${seq}:${'f'.repeat(64)}`);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('was rewritten') });
    const later = await ask('audit', '--verify', '--anchor', `999999:${hash}`);
    expect(later).toMatchObject({ code: 1, stderr: expect.stringContaining('its end was removed') });
    expect((await ask('audit', '--verify', '--follow')).code).toBe(2);
    expect((await ask('audit', '--anchor', anchor)).code).toBe(2);
  });

  it('[ID65] an entry that was inserted behind the newest or before the first one is found', async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-inserted-'));
    onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }));
    let key: string | undefined;
    // A running server has its database for itself.
    const verifyAfter = async (...statements: readonly string[]) => {
      const database = new DatabaseSync(join(dataDirectory, 'fleetloom.db'));
      for (const statement of statements) database.exec(statement);
      database.close();
      return await verify();
    };
    const verify = async () => {
      const opened = await startServer({ dataDirectory });
      key ??= opened.firstKey!;
      const result = await call(['audit', '--verify', '--url', opened.url, '--key', key]);
      await opened.close();
      return result;
    };
    const insert = (seq: number) =>
      `INSERT INTO audit_entries SELECT workspace_id, ${seq}, time, hash, data FROM audit_entries WHERE seq = 1`;
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1:/) });
    expect(await verifyAfter(insert(2))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('entry 2 was inserted: the newest is 1'),
    });
    expect((await verifyAfter('DELETE FROM audit_entries WHERE seq = 2')).code).toBe(0);
    expect((await verifyAfter(insert(0))).code).toBe(1);
    expect(
      await verifyAfter('DELETE FROM audit_entries WHERE seq = 0', `UPDATE audit_chains SET hash = 'f'`),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('entry 1 was rewritten: its hash differs'),
    });
  });
});
