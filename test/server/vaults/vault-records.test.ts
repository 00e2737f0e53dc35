import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { expect, it, vi } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';
import { openKeys } from '../../../packages/server/src/composition/credentials/open-keys.ts';
import { startOn } from '../../../packages/server/src/server.ts';
import { connect, withServer } from '../server.suite.ts';
import { openPostgresStore } from '../../../packages/server/src/store/postgres/postgres-store.ts';
import { vaultLimits } from '../../../packages/server/src/vaults/limits.ts';

const url = 'https://mcp.example.com/mcp';
const bearer = { type: 'static_bearer', mcp_server_url: url, token: 'canary-token' } as const;
const oauth = { type: 'mcp_oauth', mcp_server_url: url, access_token: 'canary-access' } as const;
const refresh = {
  client_id: 'client',
  refresh_token: 'canary-refresh',
  token_endpoint: 'https://auth.example.com/token',
  token_endpoint_auth: { type: 'client_secret_basic', client_secret: 'canary-client' },
} as const;
const variable = {
  type: 'environment_variable',
  secret_name: 'API_KEY',
  secret_value: 'canary-value',
  networking: { type: 'unrestricted' },
} as const;

/** The status and the message of a request that is refused, or `ok`. */
async function outcomeOf(request: Promise<unknown>): Promise<string> {
  try {
    await request;
    return 'ok';
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    return `${error.status} ${error.message}`;
  }
}

it('[VT10, VT21] a vault is created, read, changed, listed, archived and deleted with the official client', () =>
  withServer(async ({ client }) => {
    const { vaults } = client.beta;
    const made = await vaults.create({ display_name: 'Team', metadata: { a: '1', b: '2' } });
    expect(made).toEqual({
      type: 'vault',
      id: expect.stringMatching(/^vlt_/),
      display_name: 'Team',
      metadata: { a: '1', b: '2' },
      created_at: expect.any(String),
      updated_at: made.created_at,
      archived_at: null,
    });
    expect(await vaults.retrieve(made.id)).toEqual(made);
    expect(await vaults.update(made.id, {})).toEqual(made);
    const changed = await vaults.update(made.id, { display_name: 'Others', metadata: { a: null, c: '3' } });
    expect(changed).toMatchObject({
      display_name: 'Others',
      metadata: { b: '2', c: '3' },
      created_at: made.created_at,
    });
    for (const display_name of ['1', '2', '3', '4']) await vaults.create({ display_name });
    const archived = await vaults.archive(made.id);
    expect(archived).toEqual({ ...changed, archived_at: expect.any(String), updated_at: archived.archived_at });
    expect(await vaults.archive(made.id)).toEqual(archived);
    expect(await vaults.retrieve(made.id)).toEqual(archived);
    expect(await outcomeOf(vaults.update(made.id, { display_name: 'x' }))).toMatch(/^400 .*is archived/);
    const namesOf = async (query: object) => {
      const names: string[] = [];
      for await (const vault of vaults.list(query)) names.push(vault.display_name);
      return names.join(' ');
    };
    expect([await namesOf({}), await namesOf({ limit: 1 }), await namesOf({ limit: 3 })]).toEqual(
      Array(3).fill('4 3 2 1'),
    );
    expect(await namesOf({ include_archived: true, limit: 2 })).toBe('4 3 2 1 Others');
    expect(await outcomeOf(vaults.list({ page: 'page_x' }).asResponse())).toMatch(/^400 .*page/);
    expect(await vaults.delete(made.id)).toEqual({ type: 'vault_deleted', id: made.id });
    for (const gone of [vaults.retrieve(made.id), vaults.delete(made.id), vaults.archive(made.id)]) {
      expect(await outcomeOf(gone)).toMatch(/^404 /);
    }
  }));

it('[VT11] names of 1 to 255 characters and up to 16 pairs of metadata are accepted, and neither NUL nor half of a pair of surrogates', () =>
  withServer(async ({ client: { beta } }) => {
    const create = (params: object) => outcomeOf(beta.vaults.create({ display_name: 'v', ...params }));
    const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
    expect(await create({ display_name: 'x'.repeat(255), metadata: pairs(16) })).toBe('ok');
    expect(await create({ display_name: '\u{1f600}' })).toBe('ok');
    for (const refused of [
      { display_name: '' },
      { display_name: 'x'.repeat(256) },
      { metadata: pairs(17) },
      { display_name: 'a\0b' },
      { metadata: { a: '\0' } },
      { display_name: '\ud800' },
      { metadata: { '\udc00': 'v' } },
    ]) {
      expect(await create(refused)).toMatch(/^400 .*(?:display_name|metadata)/);
    }
  }));

it('[VT12, VT13] each kind of credential is returned with exactly its public fields', () =>
  withServer(async ({ client: { beta } }) => {
    const { id: vault } = await beta.vaults.create({ display_name: 'v' });
    const authOf = async (auth: Anthropic.Beta.Vaults.CredentialCreateParams['auth']) => {
      const made = await beta.vaults.credentials.create(vault, { auth });
      const read = await beta.vaults.credentials.retrieve(made.id, { vault_id: vault });
      expect(read).toEqual(made);
      await beta.vaults.credentials.archive(made.id, { vault_id: vault });
      return made.auth;
    };
    expect(await authOf(bearer)).toEqual({ type: 'static_bearer', mcp_server_url: url });
    expect(await authOf(oauth)).toEqual({ type: 'mcp_oauth', mcp_server_url: url, refresh: null });
    const expires_at = '2126-01-01T00:00:00.000Z';
    expect(await authOf({ ...oauth, expires_at, refresh: { ...refresh, scope: 'read', resource: url } })).toEqual({
      type: 'mcp_oauth',
      mcp_server_url: url,
      expires_at,
      refresh: {
        client_id: 'client',
        token_endpoint: 'https://auth.example.com/token',
        token_endpoint_auth: { type: 'client_secret_basic' },
        scope: 'read',
        resource: url,
      },
    });
    const shown = { type: 'environment_variable', secret_name: 'API_KEY', networking: { type: 'unrestricted' } };
    expect(await authOf(variable)).toEqual({ ...shown, injection_location: { header: true, body: true } });
    expect(await authOf({ ...variable, injection_location: { header: true } })).toEqual({
      ...shown,
      injection_location: { header: true, body: false },
    });
    const create = (injection_location: object | null) =>
      outcomeOf(beta.vaults.credentials.create(vault, { auth: { ...variable, injection_location } as never }));
    expect(await create(null)).toMatch(/^400 /);
    expect(await create({ header: null })).toMatch(/^400 /);
    expect(await create({ header: false, body: false })).toMatch(/^400 .*neither headers nor bodies/);
    expect(await create({})).toMatch(/^400 .*neither headers nor bodies/);
    const made = await beta.vaults.credentials.create(vault, {
      auth: variable,
      display_name: 'K',
      metadata: { a: 'b' },
    });
    expect(made).toEqual({
      type: 'vault_credential',
      id: expect.stringMatching(/^vcrd_/),
      vault_id: vault,
      display_name: 'K',
      auth: { ...shown, injection_location: { header: true, body: true } },
      metadata: { a: 'b' },
      created_at: expect.any(String),
      updated_at: made.created_at,
      archived_at: null,
    });
    const update = (location: object) =>
      beta.vaults.credentials.update(made.id, {
        vault_id: vault,
        auth: { type: 'environment_variable', injection_location: location },
      });
    expect((await update({ body: false })).auth).toMatchObject({ injection_location: { header: true, body: false } });
    expect(await outcomeOf(update({ header: false }))).toMatch(/^400 /);
  }));

it('[VT14] hosts of a secret are 1 to 16 names, IPv4 addresses or wildcards', () =>
  withServer(async ({ client: { beta } }) => {
    const { id: vault } = await beta.vaults.create({ display_name: 'v' });
    let count = 0;
    const create = (...allowed_hosts: string[]) =>
      outcomeOf(
        beta.vaults.credentials.create(vault, {
          auth: { ...variable, secret_name: `N${count++}`, networking: { type: 'limited', allowed_hosts } },
        }),
      );
    expect(await create('api.example.com', '192.0.2.1', '*.example.com', 'xn--bcher-kva.example', 'localhost')).toBe(
      'ok',
    );
    expect(await create(...Array(16).fill('a.example'))).toBe('ok');
    for (const refused of [
      'https://api.example.com',
      'api.example.com:443',
      'api.example.com/v1',
      '2001:db8::1',
      '[2001:db8::1]',
      '*',
      '*.*.example.com',
      'a.*.example.com',
      '*.192.0.2.1',
      '192.0.2.256',
      '192.0.2',
      'a..example',
      'a b',
      '',
      'user@host',
    ]) {
      expect(await create('ok.example', refused), refused).toMatch(/^400 .*allowed_hosts/);
    }
    expect(await create()).toMatch(/^400 /);
    expect(await create(...Array(17).fill('a.example'))).toMatch(/^400 /);
  }));

it('[VT15, VT16] a key is in a vault once, an archived credential frees it, and 20 credentials are active at most', () =>
  withServer(async ({ server, key, client: { beta } }) => {
    const { id: vault } = await beta.vaults.create({ display_name: 'v' });
    const { credentials } = beta.vaults;
    const add = (auth: Anthropic.Beta.Vaults.CredentialCreateParams['auth']) => credentials.create(vault, { auth });
    const first = await add(bearer);
    const refused: Response[] = [];
    const counting = new Anthropic({
      baseURL: server.url,
      apiKey: key,
      fetch: async (...request) => {
        const response = await fetch(...request);
        refused.push(response);
        return response;
      },
    });
    const same = 'https://MCP.example.com:443/mcp/';
    const again = counting.beta.vaults.credentials.create(vault, { auth: { ...oauth, mcp_server_url: same } });
    expect(await outcomeOf(again)).toMatch(/^409 .*mcp\.example\.com\/mcp/);
    // The client repeats other conflicts.
    expect(refused.map(({ status }) => status)).toEqual([409]);
    for (const other of ['https://mcp.example.com/other', 'https://mcp.example.com:8443/mcp', `${url}?a=b`]) {
      expect(await outcomeOf(add({ ...bearer, mcp_server_url: other }))).toBe('ok');
    }
    const named = await add(variable);
    expect(await outcomeOf(add(variable))).toMatch(/^409 .*API_KEY/);
    await credentials.archive(named.id, { vault_id: vault });
    await credentials.archive(first.id, { vault_id: vault });
    const both = [add(variable), add(variable)];
    expect((await Promise.all(both.map(outcomeOf))).map((each) => each.slice(0, 3)).toSorted()).toEqual(['409', 'ok']);
    await add(oauth);
    for (let count = 5; count < vaultLimits.credentialsMax; count++)
      await add({ ...variable, secret_name: `N${count}` });
    expect(await outcomeOf(add({ ...variable, secret_name: 'LAST' }))).toMatch(/^400 .*has 20 active credentials/);
    const [some] = (await credentials.list(vault)).data;
    await credentials.delete(some!.id, { vault_id: vault });
    expect(await outcomeOf(add({ ...variable, secret_name: 'LAST' }))).toBe('ok');
  }));

it('[VT17] an update keeps the type and the key, replaces what it names, and keeps secrets that are null', () =>
  withServer(async ({ client: { beta } }) => {
    const { id: vault } = await beta.vaults.create({ display_name: 'v' });
    const { credentials } = beta.vaults;
    const expires_at = '2126-01-01T00:00:00.000Z';
    const auth = { ...oauth, expires_at, refresh: { ...refresh, scope: 'read' } };
    const { id, updated_at } = await credentials.create(vault, { auth, display_name: 'n' });
    const update = (params: object) => credentials.update(id, { vault_id: vault, ...params });
    const change = (fields: object) => update({ auth: { type: 'mcp_oauth', ...fields } });
    expect(await outcomeOf(update({ auth: { type: 'static_bearer', token: 'x' } }))).toMatch(/^400 .*type mcp_oauth/);
    for (const fixed of [
      { mcp_server_url: url },
      { refresh: { client_id: 'x' } },
      { refresh: { token_endpoint: url } },
    ]) {
      expect(await outcomeOf(change(fixed))).toMatch(/^400 .*is not known here/);
    }
    expect(await outcomeOf(change({ access_token: '' }))).toMatch(/^400 .*is empty/);
    expect(await outcomeOf(change({ expires_at: '2020-01-01T00:00:00Z' }))).toMatch(/^400 .*is in the past/);
    expect(
      await outcomeOf(credentials.create(vault, { auth: { ...auth, expires_at: '2020-01-01T00:00:00Z' } })),
    ).toMatch(/^400 .*is in the past/);
    expect((await change({ access_token: null, refresh: { refresh_token: null } })).updated_at).toBe(updated_at);
    const renewed = await change({ access_token: 'new', refresh: { scope: '' } });
    expect(renewed.auth).toMatchObject({ expires_at, refresh: { scope: null } });
    expect((await change({ expires_at: null })).auth).not.toHaveProperty('expires_at');
    const method = { type: 'client_secret_post', client_secret: 'other' };
    expect((await change({ refresh: { token_endpoint_auth: method } })).auth).toMatchObject({
      refresh: { token_endpoint_auth: { type: 'client_secret_basic' } },
    });
    expect((await update({ display_name: null, metadata: { a: 'b' } })).display_name).toBeNull();
    expect(await outcomeOf(update({ display_name: '' }))).toMatch(/^400 .*display_name/);
    const plain = await credentials.create(vault, { auth: { ...oauth, mcp_server_url: `${url}/2` } });
    const none = await credentials.create(vault, {
      auth: {
        ...oauth,
        mcp_server_url: `${url}/3`,
        refresh: { ...refresh, token_endpoint_auth: { type: 'none' } },
      },
    });
    const changeOther = (other: string, fields: object) =>
      outcomeOf(credentials.update(other, { vault_id: vault, auth: { type: 'mcp_oauth', refresh: fields } as never }));
    expect(await changeOther(plain.id, { scope: 'x' })).toMatch(/^400 .*created without refresh/);
    expect(await changeOther(none.id, { token_endpoint_auth: method })).toMatch(/^400 .*has no secret/);
    await credentials.archive(id, { vault_id: vault });
    expect(await outcomeOf(update({ display_name: 'x' }))).toMatch(/^400 .*is archived/);
  }));

it('[VT18] secrets without line breaks of up to 65,536 bytes are accepted, and names that break no shell', () =>
  withServer(async ({ client: { beta } }) => {
    const { id: vault } = await beta.vaults.create({ display_name: 'v' });
    const create = (fields: object) =>
      outcomeOf(
        beta.vaults.credentials
          .create(vault, { auth: { ...variable, ...fields } })
          .then(({ id }) => beta.vaults.credentials.delete(id, { vault_id: vault })),
      );
    const longest = 'ü'.repeat(vaultLimits.secretBytesMax / 2);
    expect([await create({ secret_value: longest }), await create({ secret_name: `_${'a'.repeat(127)}` })]).toEqual([
      'ok',
      'ok',
    ]);
    for (const secret of ['', `${longest}x`, 'canary\n', 'canary\r', 'can\0ary']) {
      const refused = await create({ secret_value: secret });
      expect(refused).toMatch(/^400 .*secret_value/);
      expect(refused).not.toContain('canary');
    }
    const names = ['', '1A', 'A-B', 'a'.repeat(129), 'PATH', 'LD_PRELOAD', 'DYLD_X', 'GIT_SSH', 'SSL_CERT_FILE'];
    for (const secret_name of [...names, 'https_proxy', 'NODE_OPTIONS', 'BASH_ENV', 'IFS', 'A\n']) {
      expect(await create({ secret_name }), secret_name).toMatch(/^400 .*secret_name/);
    }
    for (const mcp_server_url of [
      'ftp://a.example',
      'nothing',
      'https://user:canary@a.example',
      'https://a.example/\0',
    ]) {
      const refused = await outcomeOf(beta.vaults.credentials.create(vault, { auth: { ...bearer, mcp_server_url } }));
      expect(refused).toMatch(/^400 .*mcp_server_url/);
      expect(refused).not.toContain('canary');
    }
  }));

it('[VT19] in another vault or workspace a credential does not exist, whatever is done with it', () =>
  withServer(async ({ server, client, directory }) => {
    const { vaults } = client.beta;
    const [one, two] = [await vaults.create({ display_name: '1' }), await vaults.create({ display_name: '2' })];
    const { id } = await vaults.credentials.create(one.id, { auth: oauth });
    const opened = await openKeys({ dataDirectory: directory });
    const { secret } = await opened.keys.create({ kind: 'api', name: 'other', workspaceId: 'wrkspc_other' });
    await opened.close();
    const other = connect(server.url, secret);
    // A running server knows a new key within a second.
    await vi.waitFor(() => other.beta.vaults.list(), { timeout: 10_000, interval: 50 });
    const use = (api: Anthropic, vault_id: string) => {
      const { credentials } = api.beta.vaults;
      return [
        credentials.retrieve(id, { vault_id }),
        credentials.update(id, { vault_id, display_name: 'x' }),
        credentials.archive(id, { vault_id }),
        credentials.mcpOAuthValidate(id, { vault_id }),
        credentials.delete(id, { vault_id }),
      ].map(outcomeOf);
    };
    for (const each of await Promise.all([...use(client, two.id), ...use(client, 'vlt_none'), ...use(other, one.id)])) {
      expect(each).toMatch(/^404 /);
    }
    expect(await outcomeOf(other.beta.vaults.retrieve(one.id))).toMatch(/^404 /);
    expect(await outcomeOf(other.beta.vaults.credentials.list(one.id).asResponse())).toMatch(/^404 /);
    expect((await other.beta.vaults.list()).data).toEqual([]);
    expect((await vaults.credentials.retrieve(id, { vault_id: one.id })).archived_at).toBeNull();
  }));

it('[VT20, VT21] an archived vault has archived credentials without secrets and takes no new one', () =>
  withServer(async ({ client: { beta } }) => {
    const { vaults } = beta;
    const { id } = await vaults.create({ display_name: 'v' });
    const first = await vaults.credentials.create(id, { auth: bearer });
    const second = await vaults.credentials.create(id, { auth: variable });
    const archived = await vaults.credentials.archive(first.id, { vault_id: id });
    expect(await vaults.credentials.archive(first.id, { vault_id: id })).toEqual(archived);
    const idsOf = async (query: object) => (await vaults.credentials.list(id, query)).data.map((each) => each.id);
    expect(await idsOf({})).toEqual([second.id]);
    await vaults.archive(id);
    expect([await idsOf({}), await idsOf({ include_archived: true })]).toEqual([[], [second.id, first.id]]);
    expect((await vaults.credentials.retrieve(second.id, { vault_id: id })).archived_at).not.toBeNull();
    expect(await outcomeOf(vaults.credentials.create(id, { auth: bearer }))).toMatch(/^400 .*is archived/);
    const deleted = await vaults.credentials.delete(first.id, { vault_id: id });
    expect(deleted).toEqual({ type: 'vault_credential_deleted', id: first.id });
    await vaults.delete(id);
    expect(await outcomeOf(vaults.credentials.retrieve(second.id, { vault_id: id }))).toMatch(/^404 /);
  }));

it('[VT22] a session is created with up to 50 known vaults that can be used, and keeps them', () =>
  withServer(async ({ client: { beta } }) => {
    const agent = await beta.agents.create({ name: 'a', model: 'scripted/echo' });
    const environment = await beta.environments.create({ name: 'e' });
    const create = (vault_ids: string[]) =>
      beta.sessions.create({ agent: agent.id, environment_id: environment.id, vault_ids });
    const ids: string[] = [];
    for (let count = 0; count <= vaultLimits.sessionVaultsMax; count++) {
      ids.push((await beta.vaults.create({ display_name: 'v' })).id);
    }
    const named = ids.slice(0, vaultLimits.sessionVaultsMax).toReversed();
    const session = await create(named);
    expect([session.vault_ids, (await beta.sessions.retrieve(session.id)).vault_ids]).toEqual([named, named]);
    expect(await outcomeOf(create(ids))).toMatch(/^400 .*at most 50/);
    expect(await outcomeOf(create(['vlt_none']))).toMatch(/^404 /);
    for (const vault_ids of [[], [ids[0]!]]) {
      expect(await outcomeOf(beta.sessions.update(session.id, { vault_ids }))).toMatch(/^400 .*vault_ids/);
    }
    const { id } = await beta.vaults.credentials.create(ids[0]!, { auth: variable });
    expect(await outcomeOf(create([ids[0]!]))).toBe('ok');
    await beta.vaults.credentials.archive(id, { vault_id: ids[0]! });
    expect(await outcomeOf(create([ids[0]!]))).toBe('ok');
    await beta.vaults.archive(ids[0]!);
    expect(await outcomeOf(create([ids[0]!]))).toMatch(/^400 .*is archived/);
  }));

it('[VT5] a server whose nodes have no master key starts, and refuses to store secrets', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'fleetloom-no-key-'));
  const secret = 's'.repeat(32);
  const place = await testDatabase();
  const start = async (masterKey?: string) =>
    await startOn(
      { dataDirectory, secret, isOpen: true, ...(masterKey && { masterKey }) },
      await openPostgresStore(place),
      true,
    );
  try {
    const server = await start();
    const { vaults } = connect(server.url).beta;
    const { id } = await vaults.create({ display_name: 'v' });
    expect(await outcomeOf(vaults.credentials.create(id, { auth: bearer }))).toMatch(
      /^400 .*no master key is configured/,
    );
    await server.close();
    const withKey = await start(Buffer.alloc(32, 1).toString('base64'));
    const again = connect(withKey.url).beta.vaults;
    expect(await outcomeOf(again.credentials.create(id, { auth: bearer }))).toBe('ok');
    await withKey.close();
    await expect(start()).rejects.toThrow('1 stored secrets were sealed with the master key');
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});
