import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { expect, it, vi } from 'vitest';
import { toKeyId } from '../../../packages/server/src/keys/sealer.ts';
import { startServer } from '../../../packages/server/src/server.ts';
import { connect, withServer } from '../server.suite.ts';
import { createMcpAgent, createSession, createVault, sendAndWait } from './vaults.suite.ts';
import { openSqliteStore } from '../../../packages/server/src/store/sqlite/sqlite-store.ts';
import { serveProtectedMcp, serveTokenEndpoint } from '../../../packages/server/src/vaults/oauth-mcp.suite.ts';
import { startReceiver } from '../../../packages/server/src/webhooks/receiver.suite.ts';

vi.setConfig({ testTimeout: 90_000 });

const options = { isOpen: true, allowedPrivateHosts: ['127.0.0.1'] } as const;
const toText = (key: Uint8Array) => Buffer.from(key).toString('base64');

interface Status {
  key_id: string | null;
  keys: { id: string; secrets: number; is_known: boolean }[];
  rewrapped?: number;
  unopened?: number;
}

it('[VT3, VT7] the first secret makes the master key, and a server with another one does not start and names the one it needs', () =>
  withServer(async (test) => {
    const file = join(test.directory, 'master-key');
    const { id } = await test.client.beta.vaults.create({ display_name: 'v' });
    expect(() => statSync(file)).toThrow('ENOENT');
    const auth = { type: 'static_bearer', mcp_server_url: 'https://a.example', token: 'canary-token' } as const;
    await test.client.beta.vaults.credentials.create(id, { auth });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const key = Buffer.from(readFileSync(file, 'utf8'), 'base64');
    const again = await test.restart();
    expect((await again.client.get<Status>('/v1/fleet/secrets')).key_id).toBe(toKeyId(key));
    await again.server.close();
    const other = startServer({ ...options, dataDirectory: test.directory, masterKey: toText(randomBytes(32)) });
    await expect(other).rejects.toThrow(`1 stored secrets were sealed with the master key ${toKeyId(key)}`);
    await expect(other).rejects.not.toThrow('canary');
    await (await startServer({ ...options, dataDirectory: test.directory })).close();
  }, options));

it('[VT8] a secret that was moved to another credential does not open: the request fails, and nothing is sent', () =>
  withServer(async (test) => {
    const mcp = await serveProtectedMcp('canary-one', 'canary-two');
    const oauth = (access_token: string) => ({ type: 'mcp_oauth', mcp_server_url: mcp.url, access_token }) as const;
    const one = await createVault(test.client, oauth('canary-one'));
    const two = await createVault(test.client, oauth('canary-two'));
    const session = await createSession(test.client, await createMcpAgent(test.client, mcp.url), two.id);
    await test.server.close();
    const store = await openSqliteStore({ path: join(test.directory, 'fleetloom.db') });
    const stolen = (await store.documents.get('vault_secret', one.credentials[0]!))!;
    await store.documents.put({ kind: 'vault_secret', id: two.credentials[0]!, data: stolen.data });
    await store.close();
    const again = await test.restart();
    const validate = again.client.beta.vaults.credentials.mcpOAuthValidate(two.credentials[0]!, { vault_id: two.id });
    await expect(validate).rejects.toMatchObject({ status: 500 });
    await expect(validate).rejects.not.toThrow(/sealed|master key/);
    const events = await sendAndWait(again.client, session);
    expect(events.flatMap((event) => (event.type === 'session.error' ? [event.error.type] : []))).toEqual([
      'mcp_connection_failed_error',
    ]);
    expect(mcp.seen).toEqual([]);
    const ok = await again.client.beta.vaults.credentials.mcpOAuthValidate(one.credentials[0]!, { vault_id: one.id });
    expect(ok.status).toBe('valid');
  }, options));

it('[VT68] after a master key is lost, deleted secrets can be stored again in their credentials', () =>
  withServer(async (test) => {
    const mcp = await serveProtectedMcp('two');
    const vault = await createVault(test.client, { type: 'mcp_oauth', mcp_server_url: mcp.url, access_token: 'one' });
    await test.server.close();
    rmSync(join(test.directory, 'master-key'));
    await expect(test.restart()).rejects.toThrow('which this server does not have');
    const store = await openSqliteStore({ path: join(test.directory, 'fleetloom.db') });
    await store.documents.delete('vault_secret', vault.credentials[0]!);
    await store.close();
    const { credentials } = (await test.restart()).client.beta.vaults;
    const of = { vault_id: vault.id };
    await credentials.update(vault.credentials[0]!, { ...of, auth: { type: 'mcp_oauth', access_token: 'two' } });
    expect((await credentials.mcpOAuthValidate(vault.credentials[0]!, of)).status).toBe('valid');
  }, options));

it('[VT6] while secrets are rotated no request fails, and afterwards the key before opens nothing and is not needed', () =>
  withServer(async (test) => {
    const mcp = await serveProtectedMcp('token');
    const auth = { type: 'static_bearer', mcp_server_url: mcp.url, token: 'token' } as const;
    const vaults = await Promise.all(Array.from({ length: 20 }, () => createVault(test.client, auth)));
    const agent = await createMcpAgent(test.client, mcp.url, 50);
    const session = await createSession(test.client, agent, vaults[7]!.id);
    const before = readFileSync(join(test.directory, 'master-key'), 'utf8').trim();
    const oldId = toKeyId(Buffer.from(before, 'base64'));
    await test.server.close();
    const masterKey = toText(randomBytes(32));
    const rotating = await startServer({
      ...options,
      dataDirectory: test.directory,
      masterKey,
      olderMasterKeys: before,
    });
    const client = connect(rotating.url);
    const status: Status = await client.get('/v1/fleet/secrets');
    expect(status.keys).toContainEqual({ id: oldId, secrets: 20, is_known: true });
    const rotation = { isDone: false };
    const results: string[] = [];
    const use = async () => {
      for (let turn = 0; !rotation.isDone || turn < 3; turn++) {
        for (const event of await sendAndWait(client, session)) {
          if (event.type === 'session.error' || event.type === 'agent.mcp_tool_result') results.push(event.type);
        }
        const { id } = vaults[turn % 20]!;
        await client.beta.vaults.credentials.update(vaults[turn % 20]!.credentials[0]!, {
          vault_id: id,
          auth: { type: 'static_bearer', token: 'token' },
        });
      }
    };
    const using = use();
    for (;;) {
      const step: Status = await client.post('/v1/fleet/secrets/rotate');
      expect(step.unopened).toBe(0);
      if (step.keys.find(({ id }) => id === oldId)!.secrets === 0) break;
    }
    rotation.isDone = true;
    await using;
    expect(new Set(results)).toEqual(new Set(['agent.mcp_tool_result']));
    expect((await client.post<Status>('/v1/fleet/secrets/rotate')).rewrapped).toBe(0);
    await rotating.close();
    await expect(startServer({ ...options, dataDirectory: test.directory })).rejects.toThrow('were sealed with');
    const after = await startServer({ ...options, dataDirectory: test.directory, masterKey });
    expect((await sendAndWait(connect(after.url), session)).map(({ type }) => type)).not.toContain('session.error');
    await after.close();
  }, options));

it('[VT9] a secret is in no answer, event, webhook, log, export, metric, file, argument or environment', async () => {
  const found: string[] = [];
  const reported: string[] = [];
  const canaries: string[] = [];
  const canary = (name: string) => {
    const secret = `canary-${name}-${randomBytes(12).toString('hex')}`;
    canaries.push(secret);
    return secret;
  };
  const look = (where: string, text: string) => {
    for (const secret of canaries) {
      const forms = [
        secret,
        Buffer.from(secret).toString('base64').replace(/=+$/, ''),
        Buffer.from(secret).toString('hex'),
      ];
      if (forms.some((form) => text.includes(form))) found.push(`${secret} in ${where}`);
    }
  };
  let key = '';
  const receiver = await startReceiver(() => key);
  await withServer(
    async ({ client, server, url, directory }) => {
      key = server.webhookKey!;
      const answers: unknown[] = [];
      const keep = async (request: Promise<unknown>) => void answers.push(await request.catch(String));
      const access = canary('access');
      const renewed = canary('renewed');
      const mcp = await serveProtectedMcp(renewed);
      const endpoint = await serveTokenEndpoint(() => ({
        body: { access_token: renewed, refresh_token: canary('rotated') },
      }));
      const refresh = {
        client_id: 'id',
        refresh_token: canary('refresh'),
        token_endpoint: endpoint.url,
        token_endpoint_auth: { type: 'client_secret_post', client_secret: canary('client') },
      } as const;
      const { vaults } = client.beta;
      const { id: vault } = await vaults.create({ display_name: 'v' });
      const make = async (auth: Anthropic.Beta.Vaults.CredentialCreateParams['auth']) => {
        const made = await vaults.credentials.create(vault, { auth });
        answers.push(made);
        return made.id;
      };
      const used = await make({ type: 'mcp_oauth', mcp_server_url: mcp.url, access_token: access, refresh });
      const token = await make({ type: 'static_bearer', mcp_server_url: `${mcp.url}/2`, token: canary('token') });
      const networking = { type: 'unrestricted' } as const;
      const variable = { type: 'environment_variable', secret_name: 'KEY', networking } as const;
      const value = await make({ ...variable, secret_value: canary('value') });
      await keep(vaults.credentials.create(vault, { auth: { ...variable, secret_value: canary('taken') } }));
      const wrong = { ...variable, secret_value: canary('wrong'), secret_name: 'PATH', [canary('field')]: 1 };
      canaries.pop();
      await keep(vaults.credentials.create(vault, { auth: wrong }));
      await keep(vaults.credentials.create(vault, { auth: { ...variable, secret_value: `${canary('line')}\n` } }));
      await keep(vaults.credentials.create(vault, { auth: { type: canary('type'), token: canary('typed') } as never }));
      canaries.splice(canaries.length - 2, 1);
      await keep(
        vaults.credentials.update(token, {
          vault_id: vault,
          auth: { type: 'static_bearer', token: canary('updated') },
        }),
      );
      await vaults.credentials.delete(value, { vault_id: vault });
      const agent = await createMcpAgent(client, mcp.url, 2);
      const session = await createSession(client, agent, vault);
      answers.push(await sendAndWait(client, session));
      await keep(vaults.credentials.mcpOAuthValidate(used, { vault_id: vault }));
      mcp.accepts.clear();
      answers.push(await sendAndWait(client, session));
      await keep(vaults.credentials.mcpOAuthValidate(used, { vault_id: vault }));
      for (const path of [
        `/v1/vaults?include_archived=true`,
        `/v1/vaults/${vault}/credentials`,
        `/v1/vaults/${vault}/credentials/${used}`,
        `/v1/sessions/${session}`,
        `/v1/sessions/${session}/events`,
        `/v1/sessions/${session}/export`,
        '/v1/fleet/secrets',
        '/v1/fleet/settings',
        '/metrics',
        '/openapi.json',
      ]) {
        const response = await fetch(`${url}${path}`);
        look(path, await response.text());
      }
      const forked = await client.post(`/v1/sessions/${session}/fork`, { body: {} });
      answers.push(forked);
      look('answers', JSON.stringify(answers));
      look('files', listFiles(directory).map(read).join('\n'));
      look('processes', listProcessFiles().map(read).join('\n'));
      await vaults.delete(vault);
      await vi.waitFor(() => expect(receiver.types()).toContain('vault.deleted'), { timeout: 20_000 });
      look('webhooks', JSON.stringify(receiver.attempts));
      // The search would find one that is there.
      const control = found.length;
      look('control', `x${renewed}x`);
      expect(found.splice(control)).toHaveLength(1);
    },
    {
      ...options,
      webhooks: { urls: [receiver.url] },
      onProblem: (problem) => reported.push(String(problem)),
      log: {
        onRequest: (entry) => void reported.push(JSON.stringify(entry)),
        onError: (error) => void reported.push(String(error)),
      },
    },
  );
  expect(reported.length).toBeGreaterThan(10);
  look('logs', reported.join('\n'));
  expect(canaries.length).toBeGreaterThan(9);
  expect(found).toEqual([]);
});

function listFiles(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Arguments and environments of all processes of this machine that may be read. */
function listProcessFiles(): string[] {
  const ids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return ids.flatMap((id) => [`/proc/${id}/cmdline`, `/proc/${id}/environ`]);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
