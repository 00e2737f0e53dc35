import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { eventually } from '../../test-support/fake-io.ts';
import { begin, call } from '../../test-support/live-io.ts';
import { limits } from '../base/limits.ts';

const dataDirectory = mkdtempSync(join(tmpdir(), 'fleetloom-vaults-'));
const keys = [1, 2].map(() => randomBytes(32).toString('base64'));
const options = { dataDirectory, isOpen: true, allowedPrivateHosts: ['127.0.0.1'] } as const;
let server: Awaited<ReturnType<typeof startServer>>;
let env: Record<string, string>;

async function start(masterKey: string, olderMasterKeys = ''): Promise<void> {
  server = await startServer({ ...options, masterKey, olderMasterKeys });
  env = { FLEETLOOM_URL: server.url, FLEETLOOM_DATA: dataDirectory };
}

beforeAll(() => start(keys[0]!));
afterAll(async () => {
  await server.close();
  rmSync(dataDirectory, { recursive: true, force: true });
});

const fleet = (args: readonly string[], input = '') => call(args, { env, input });

/** An MCP server that accepts one token. */
async function serveMcp(accepts: () => string): Promise<string> {
  const http = createServer((request, response) => {
    const isAccepted = request.headers.authorization === `Bearer ${accepts()}`;
    response.writeHead(isAccepted ? 200 : 401, { 'content-type': 'application/json' });
    request.resume().on('end', () => response.end('{"jsonrpc":"2.0","id":1,"result":{}}'));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

/** An MCP server with its authorization server, which has no page of its own. */
async function serveOAuth(): Promise<string> {
  const http = createServer((request, response) => {
    const metadata = {
      resource: `${origin}/mcp`,
      authorization_servers: [origin],
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    };
    const answers: Record<string, object> = {
      '/.well-known/oauth-protected-resource/mcp': metadata,
      '/.well-known/oauth-authorization-server': metadata,
      '/register': { client_id: 'c' },
      '/token': { access_token: 'canary-access', expires_in: 3_600 },
    };
    const answer = answers[request.url ?? ''];
    response.writeHead(answer === undefined ? 401 : 200, { 'content-type': 'application/json' });
    request.resume().on('end', () => response.end(JSON.stringify(answer ?? {})));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return `${origin}/mcp`;
}

it('[VT38] vaults and credentials are created, listed, rotated, validated, archived and deleted, and no secret is shown', async () => {
  const url = await serveMcp(() => 'canary-two');
  expect((await fleet(['vaults'])).stderr).toContain('There are no vaults');
  const vault = (await fleet(['vaults', 'create', 'Team'])).stdout.trim();
  expect(vault).toMatch(/^vlt_/);
  expect((await fleet(['vaults', 'list'])).stdout).toMatch(new RegExp(`VAULT.*\n${vault} +Team +active`));
  const outputs: string[] = [];
  const run = async (args: string[], input = '') => {
    const called = await fleet(['credentials', ...args], input);
    outputs.push(called.stdout, called.stderr);
    return called;
  };
  const added = await run(['add', vault, '--mcp-url', url, '--oauth', '--name', 'Tracker'], 'canary-one\n');
  expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(/^vcrd_\w+\n$/)]);
  const credential = added.stdout.trim();
  const refused = await run(['validate', vault, credential]);
  expect([refused.code, refused.stdout]).toEqual([
    1,
    expect.stringMatching(/^invalid\n {2}initialize: status 401.*\n {2}refresh: no_refresh_token\n$/),
  ]);
  expect((await run(['rotate', vault, credential], 'canary-two')).stdout).toBe(`${credential}\n`);
  expect(await run(['validate', vault, credential])).toMatchObject({ code: 0, stdout: 'valid\n' });
  expect(JSON.parse((await run(['validate', vault, credential, '--json'])).stdout)).toMatchObject({ status: 'valid' });
  const bearer = await run(['add', vault, '--mcp-url', `${url}/2`], 'canary-three\r\n');
  const variable = await run(['add', vault, '--variable', 'KEY', '--host', 'a.example', '*.b.example'], 'canary-four');
  expect((await run(['rotate', vault, variable.stdout.trim()], 'canary-five')).code).toBe(0);
  const listed = await run(['list', vault]);
  expect(listed.stdout).toMatch(
    /environment_variable +KEY to a\.example, \*\.b\.example .*\n.*static_bearer .*\n.*mcp_oauth +http.* Tracker +active/,
  );
  const json = (await run(['list', vault, '--json'])).stdout.split('\n')[0]!;
  expect(JSON.parse(json).auth.networking).toEqual({ type: 'limited', allowed_hosts: ['a.example', '*.b.example'] });
  expect((await run(['archive', vault, credential, bearer.stdout.trim()])).code).toBe(0);
  expect((await run(['list', vault])).stdout).not.toContain(credential);
  expect((await run(['list', vault, '--archived'])).stdout).toContain(credential);
  expect(outputs.join('\n')).not.toContain('canary');
  expect((await fleet(['vaults', 'archive', vault])).stdout).toBe(`${vault}\n`);
  expect((await fleet(['vaults', 'delete', vault])).stdout).toBe(`${vault}\n`);
  expect((await fleet(['credentials', 'list', vault])).code).toBe(4);
});

it('[Y461] an unknown vault, credential or login is exit code 4, with the command that lists them', async () => {
  const vault = (await fleet(['vaults', 'create', 'v'])).stdout.trim();
  const callFor = async (...args: string[]) => {
    const { code, stderr } = await fleet(args);
    return [code, /"fleetloom (\w+)/.exec(stderr)?.[1]];
  };
  expect(await callFor('credentials', 'list', 'vlt_none')).toEqual([4, 'vaults']);
  expect(await callFor('credentials', 'archive', vault, 'vcrd_none')).toEqual([4, 'vaults']);
  expect(await callFor('logins', 'revoke', 'none')).toEqual([4, 'logins']);
  expect(await callFor('threads', 'none')).toEqual([4, 'sessions']);
});

it('[VT76] connect prints the address, waits until the user has consented, and prints the credential', async () => {
  const vault = (await fleet(['vaults', 'create', 'v'])).stdout.trim();
  const url = await serveOAuth();
  const { fake, ended } = begin(['vaults', 'connect', vault, url, '--no-open', '--name', 'Tracker'], { env });
  await eventually(() => fake.stdout.text.includes('\n'));
  const address = new URL(fake.stdout.text.trim());
  expect(fake.stderr.text).toContain('Open this address in a browser');
  await fetch(`${server.url}/oauth-callback?code=c&state=${address.searchParams.get('state')}`);
  expect(await ended).toBe(0);
  const [, credential] = fake.stdout.text.trim().split('\n');
  expect(credential).toMatch(/^vcrd_/);
  expect((await fleet(['credentials', 'list', vault])).stdout).toMatch(
    new RegExp(`${credential} +mcp_oauth .*Tracker`),
  );
  expect(`${fake.stdout.text}${fake.stderr.text}`).not.toContain('canary');
});

it('[VT76] a refusal is an exit with 1 and the reason, and a server without OAuth is reported at once', async () => {
  const vault = (await fleet(['vaults', 'create', 'v'])).stdout.trim();
  const url = await serveOAuth();
  const { fake, ended } = begin(['vaults', 'connect', vault, url, '--json'], { env });
  await eventually(() => fake.stdout.text.includes('\n'));
  const { authorization_url: address } = JSON.parse(fake.stdout.text) as { authorization_url: string };
  const state = new URL(address).searchParams.get('state');
  await fetch(`${server.url}/oauth-callback?error=access_denied&state=${state}`);
  expect(await ended).toBe(1);
  expect(fake.stderr.text).toMatch(/was not connected: .*access_denied/);
  expect(JSON.parse(fake.stdout.text.trim().split('\n')[1]!)).toMatchObject({ status: 'failed' });
  const plain = await fleet(['vaults', 'connect', vault, await serveMcp(() => 'token')]);
  expect([plain.code, plain.stderr]).toEqual([5, expect.stringContaining('does not say which authorization server')]);
});

it('[VT38] a prompt does not show what is typed, and Ctrl-C stores nothing', async () => {
  const vault = (await fleet(['vaults', 'create', 'v'])).stdout.trim();
  const type = async (args: string[], keys: string) => {
    const terminal = new FakeTerminal();
    const { fake, ended } = begin(['credentials', ...args], { terminal, env, on: 'stderr' });
    await eventually(() => terminal.text.includes('(not shown)'));
    fake.type(keys);
    return { code: await ended, shown: `${terminal.text}${fake.stdout.text}` };
  };
  const url = await serveMcp(() => 'canary');
  const added = await type(['add', vault, '--mcp-url', url, '--oauth'], 'canarx\u007fy\r');
  expect([added.code, added.shown]).toEqual([0, expect.not.stringContaining('canar')]);
  const credential = /vcrd_\w+/.exec(added.shown)![0];
  expect((await fleet(['credentials', 'validate', vault, credential])).code).toBe(0);
  expect((await type(['rotate', vault, credential], 'other\u0003')).code).toBe(130);
  expect((await type(['rotate', vault, credential], `${'x'.repeat(limits.secretBytesMax + 1)}\r`)).code).toBe(2);
  expect((await fleet(['credentials', 'validate', vault, credential])).code).toBe(0);
});

it('[VT38] wrong options and secrets that are empty or too long are usage errors, and nothing is stored', async () => {
  const vault = (await fleet(['vaults', 'create', 'v'])).stdout.trim();
  const add = async (args: string[], input = 'canary') => {
    const { code, stderr } = await fleet(['credentials', 'add', vault, ...args], input);
    expect(stderr).not.toContain('canary');
    return code;
  };
  const url = ['--mcp-url', 'https://a.example'];
  for (const wrong of [
    [],
    [...url, '--variable', 'X'],
    ['--variable', 'X', '--oauth'],
    [...url, '--host', 'a.example'],
    [...url, '--expires', '2126-01-01T00:00:00Z'],
  ]) {
    expect(await add(wrong), wrong.join(' ')).toBe(2);
  }
  expect([await add(url, ''), await add(url, '\n')]).toEqual([2, 2]);
  expect(await add(url, 'x'.repeat(limits.secretBytesMax + 1))).toBe(2);
  expect((await fleet(['credentials', 'list', vault])).stderr).toContain('There are no credentials');
  expect(await add(url, 'x'.repeat(limits.secretBytesMax))).toBe(0);
});

it('[VT39, VT66] secrets rotate ends with no secret under the older key, and a server without the right key exits with 1', async () => {
  const vault = (await fleet(['vaults', 'create', 'v'])).stdout.trim();
  await fleet(['credentials', 'add', vault, '--mcp-url', 'https://b.example'], 'canary');
  const before = JSON.parse((await fleet(['secrets', 'status', '--json'])).stdout) as {
    key_id: string;
    keys: { secrets: number }[];
  };
  const [, ...none] = before.keys;
  expect(none).toEqual([]);
  await server.close();
  const other = await call(['serve', '--port', '0', '--open'], {
    env: { FLEETLOOM_DATA: dataDirectory, FLEETLOOM_MASTER_KEY: keys[1]! },
  });
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining(`the master key ${before.key_id}`)]);
  expect(other.stderr).not.toContain(keys[1]!);
  await start(keys[1]!, keys[0]);
  expect((await fleet(['secrets'])).stdout).toMatch(new RegExp(`${before.key_id} +${before.keys[0]!.secrets} +opens`));
  const diagnose = async () => {
    const lines = (await fleet(['doctor', '--json'])).stdout.trim().split('\n');
    const findings = lines.map((line) => JSON.parse(line) as { name: string; state: string; text: string });
    return findings.flatMap(({ name, state, text }) => (name === 'Master key' ? [[state, text.split(' (')[0]]] : []));
  };
  const current = (JSON.parse((await fleet(['secrets', 'status', '--json'])).stdout) as { key_id: string }).key_id;
  expect(new Set(await diagnose())).toEqual(
    new Set([
      ['ok', `${current} encrypts`],
      ['note', `${before.key_id} only opens`],
    ]),
  );
  const rotated = await fleet(['secrets', 'rotate']);
  expect([rotated.code, rotated.stdout]).toEqual([0, `0 secrets under ${before.key_id}\n`]);
  expect((await fleet(['secrets', 'rotate'])).stderr).toContain('0 secrets encrypted with');
  await server.close();
  await start(keys[1]!);
  expect((await fleet(['secrets'])).stdout).not.toContain(before.key_id);
  expect(await diagnose()).toEqual([['ok', `${current} encrypts`]]);
});
