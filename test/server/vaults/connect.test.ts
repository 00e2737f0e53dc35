import type { FleetAuditEntry, FleetOAuthFlow, FleetOAuthFlowStarted } from '@fleetloom/protocol/fleet';
import { expect, it, vi } from 'vitest';
import { type TestServer, withServer } from '../server.suite.ts';
import { createMcpAgent, createSession, sendAndWait } from './vaults.suite.ts';
import {
  consent,
  serveAuthorization,
  serveOAuthMcp,
} from '../../../packages/server/src/vaults/oauth/authorization-server.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

const options = { allowedPrivateHosts: ['127.0.0.1'] } as const;

/** Calls the API with a key. */
function toApi({ url, key }: Pick<TestServer, 'url' | 'key'>) {
  const call = async (path: string, body?: object): Promise<{ status: number; body: unknown }> => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, init);
    return { status: answer.status, body: await answer.json() };
  };
  return {
    call,
    begin: async (flows: string, params: object) => (await call(flows, params)).body as FleetOAuthFlowStarted,
    read: async (flows: string, id: string) => (await call(`${flows}/${id}`)).body as FleetOAuthFlow,
  };
}

it('[VT69, VT74, EG108] a user who consents at a real authorization server gets a credential that sessions use and that is renewed', () =>
  withServer(async (test) => {
    const { client } = test;
    const { call, begin, read } = toApi(test);
    // Tokens that expire so soon that each use renews them.
    const server = await serveAuthorization({ tokenSeconds: 30 });
    const url = await serveOAuthMcp(server);
    const vault = await client.beta.vaults.create({ display_name: 'v' });
    const flows = `/v1/vaults/${vault.id}/oauth_flows`;
    const started = await begin(flows, { mcp_server_url: url, display_name: 'Tools' });
    expect(Object.keys(started)).toEqual(['type', 'id', 'authorization_url', 'expires_at']);
    expect(Date.parse(started.expires_at) - Date.now()).toBeGreaterThan(14 * 60_000);
    const asked = new URL(started.authorization_url).searchParams;
    expect(asked.get('resource')).toBe(url);
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('scope')).toBe('tools offline_access');
    expect((await read(flows, started.id)).status).toBe('pending');

    const page = await fetch(await consent(started.authorization_url));
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(`${url} is connected.`)]);
    const flow = await read(flows, started.id);
    if (flow.status !== 'completed') throw new Error(JSON.stringify(flow));
    const credential = await client.beta.vaults.credentials.retrieve(flow.credential_id, { vault_id: vault.id });
    expect(credential).toMatchObject({
      display_name: 'Tools',
      auth: {
        type: 'mcp_oauth',
        mcp_server_url: url,
        refresh: { token_endpoint: `${server.issuer}/token`, resource: url },
      },
    });
    expect(server.tokenRequests[0]!.get('resource')).toBe(url);
    expect(server.tokenRequests[0]!.get('code_verifier')).toMatch(/^[\w-]{43}$/);

    const agent = await createMcpAgent(client, url);
    const events = await sendAndWait(client, await createSession(client, agent, vault.id));
    const results = events.flatMap((event) => (event.type === 'agent.mcp_tool_result' ? (event.content ?? []) : []));
    expect(results).toMatchObject([{ type: 'text', text: 'ran echo' }]);
    const grants = server.tokenRequests.map((form) => form.get('grant_type'));
    expect(new Set(grants)).toEqual(new Set(['authorization_code', 'refresh_token']));

    // Connecting again takes the place of what there is, in one commit.
    const again = await begin(flows, { mcp_server_url: `${url}/` });
    expect((await fetch(await consent(again.authorization_url))).status).toBe(200);
    const active = [];
    for await (const each of client.beta.vaults.credentials.list(vault.id)) active.push(each.id);
    expect(active).toHaveLength(1);
    expect(active).not.toContain(credential.id);
    const log = (await call('/v1/fleet/audit')).body as { data: FleetAuditEntry[] };
    const made = log.data.filter(({ entry }) => entry.action.startsWith('vault_credential'));
    expect(made.map(({ entry }) => [entry.action, entry.by.type])).toEqual([
      ['vault_credential.connect_started', 'key'],
      ['vault_credential.created', 'key'],
      ['vault_credential.used', 'system'],
      ['vault_credential.connect_started', 'key'],
      ['vault_credential.created', 'key'],
    ]);
    expect(made[2]!.entry.details).toMatchObject({ as: 'mcp' });
    expect(made[4]!.entry.details).toMatchObject({ replaces: credential.id });
  }, options));

it('[VT70, VT75] a user who refuses gets no credential, and the page and the flow say so', () =>
  withServer(async (test) => {
    const { begin, read } = toApi(test);
    const url = await serveOAuthMcp(await serveAuthorization());
    const vault = await test.client.beta.vaults.create({ display_name: 'v' });
    const flows = `/v1/vaults/${vault.id}/oauth_flows`;
    const started = await begin(flows, { mcp_server_url: url });
    const callback = await consent(started.authorization_url, { agrees: false });
    // A link checker changes nothing.
    await fetch(callback, { method: 'HEAD' });
    const page = await fetch(callback);
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('access_denied')]);
    expect(await read(flows, started.id)).toMatchObject({
      status: 'failed',
      error: { type: 'authorization_refused' },
    });
    const page2 = await fetch(callback);
    expect(await page2.text()).toContain('has ended or expired');
    expect((await test.client.beta.vaults.credentials.list(vault.id)).data).toEqual([]);
  }, options));

it('[VT70] a client of the user is used with its secret, and one that is missing is a 400 that says where to register', () =>
  withServer(async (test) => {
    const { call, begin } = toApi(test);
    const redirect = `${test.url}/oauth-callback`;
    const registered = { client_id: 'mine', client_secret: 'canary-client-secret', redirect_uris: [redirect] };
    const grants = { grant_types: ['authorization_code', 'refresh_token'], application_type: 'native' };
    const server = await serveAuthorization({ registers: false, clients: [{ ...registered, ...grants }] });
    const url = await serveOAuthMcp(server);
    const vault = await test.client.beta.vaults.create({ display_name: 'v' });
    const flows = `/v1/vaults/${vault.id}/oauth_flows`;
    const refused = await call(flows, { mcp_server_url: url });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining(redirect)]);
    const given = { mcp_server_url: url, client_id: 'mine', client_secret: 'canary-client-secret' };
    const started = await begin(flows, given);
    expect(JSON.stringify(started)).not.toContain('canary');
    expect((await fetch(await consent(started.authorization_url))).status).toBe(200);
    const [credential] = (await test.client.beta.vaults.credentials.list(vault.id)).data;
    const { auth } = credential!;
    if (auth.type !== 'mcp_oauth') throw new Error(auth.type);
    expect(auth.refresh).toMatchObject({ client_id: 'mine', token_endpoint_auth: { type: 'client_secret_basic' } });
  }, options));

it('[VT71] the metadata of this server as a client names the address that it was read from', () =>
  withServer(async ({ url }) => {
    const read = async (headers: Record<string, string> = {}) =>
      (await fetch(`${url}/oauth-client.json`, { headers })).json();
    expect(await read()).toMatchObject({
      client_id: `${url}/oauth-client.json`,
      redirect_uris: [`${url}/oauth-callback`],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    });
    expect(await read({ 'x-forwarded-proto': 'https' })).toMatchObject({
      client_id: `${url.replace('http:', 'https:')}/oauth-client.json`,
      application_type: 'web',
    });
  }));

it('[VT73] a flow exists below its own vault and in its own workspace only', () =>
  withServer(async (test) => {
    const { call, begin } = toApi(test);
    const url = await serveOAuthMcp(await serveAuthorization());
    const [one, two] = [
      await test.client.beta.vaults.create({ display_name: 'one' }),
      await test.client.beta.vaults.create({ display_name: 'two' }),
    ];
    const started = await begin(`/v1/vaults/${one.id}/oauth_flows`, { mcp_server_url: url });
    expect((await call(`/v1/vaults/${two.id}/oauth_flows/${started.id}`)).status).toBe(404);
    expect((await call(`/v1/vaults/${one.id}/oauth_flows/vflow_unknown`)).status).toBe(404);
    expect((await call(`/v1/vaults/${one.id}/oauth_flows/vcrd_unknown`)).status).toBe(404);
    await test.client.beta.vaults.archive(one.id);
    expect((await call(`/v1/vaults/${one.id}/oauth_flows`, { mcp_server_url: url })).status).toBe(400);
    // Archived while the user was at the authorization server.
    expect((await fetch(await consent(started.authorization_url))).status).toBe(400);
    expect((await call(`/v1/vaults/${one.id}/oauth_flows/${started.id}`)).body).toMatchObject({
      status: 'failed',
      error: { type: 'credential_not_stored' },
    });
  }, options));
