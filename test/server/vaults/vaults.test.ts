import { createServer } from 'node:http';
import type Anthropic from '@anthropic-ai/sdk';
import { expect, it, vi } from 'vitest';
import { isLong } from '../../support/seed.ts';
import { withNodes, withServer } from '../server.suite.ts';
import { createMcpAgent, createSession, createVault, sendAndWait } from './vaults.suite.ts';
import { serveMcp } from '../../../packages/server/src/tools/mcp/mcp-server.suite.ts';
import { listen, serveProtectedMcp, serveTokenEndpoint } from '../../../packages/server/src/vaults/oauth-mcp.suite.ts';
import { startReceiver } from '../../../packages/server/src/webhooks/receiver.suite.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Three nodes take long to start: `FLEETLOOM_LONG=1` has them too. */
const places = [['one server', withServer] as const, ...(isLong ? [['three nodes', withNodes] as const] : [])];

const options = { isOpen: true, allowedPrivateHosts: ['127.0.0.1'] } as const;
const bearer = (mcp_server_url: string, token: string) => ({ type: 'static_bearer', mcp_server_url, token }) as const;

type Events = Awaited<ReturnType<typeof sendAndWait>>;

/** What the tool calls of a turn came to, and its errors. */
function summarise(events: Events) {
  return events.flatMap((event) => {
    if (event.type === 'agent.mcp_tool_result') {
      const [block] = event.content ?? [];
      return [block?.type === 'text' ? block.text : 'nothing'];
    }
    return event.type === 'session.error' ? [`${event.error.type} ${JSON.stringify(event.error)}`] : [];
  });
}

it.each(places)(
  '[VT23] an MCP server gets the token of the first vault that has one for it, on every request, and without a vault none, on %s',
  (_, inPlace) =>
    inPlace(async ({ client }) => {
      const mcp = await serveProtectedMcp('first');
      const open = await serveMcp();
      const agent = await createMcpAgent(client, mcp.url);
      const one = await createVault(client, bearer(`${mcp.url}/`, 'first'));
      const two = await createVault(client, bearer(mcp.url, 'second'), bearer(`${mcp.url}/other`, 'third'));
      const empty = await createVault(client);
      expect(
        summarise(await sendAndWait(client, await createSession(client, agent, empty.id, one.id, two.id))),
      ).toEqual(['ran echo']);
      expect(new Set(mcp.seen)).toEqual(new Set(['Bearer first']));
      expect(mcp.seen.length).toBeGreaterThan(2);
      mcp.seen.length = 0;
      const refused = summarise(await sendAndWait(client, await createSession(client, agent, two.id, one.id)));
      expect(refused.join()).toContain('mcp_authentication_failed_error');
      expect(new Set(mcp.seen)).toEqual(new Set(['Bearer second']));
      mcp.seen.length = 0;
      const none = summarise(await sendAndWait(client, await createSession(client, agent)));
      expect(none.join()).toContain('mcp_authentication_failed_error');
      expect(new Set(mcp.seen)).toEqual(new Set([undefined]));
      const other = await createMcpAgent(client, open.url);
      expect(summarise(await sendAndWait(client, await createSession(client, other, one.id)))).toEqual(['ran echo']);
      expect(open.headers().authorization).toBeUndefined();
    }, options),
);

it.each(places)('[VT23] child threads use the credentials of their session, on %s', (_, inPlace) =>
  inPlace(async ({ client }) => {
    const mcp = await serveProtectedMcp('token');
    const child = await createMcpAgent(client, mcp.url, 1, 'child');
    const lead = await client.beta.agents.create({
      name: 'lead',
      model: 'scripted/inline',
      system: `<script>${JSON.stringify({
        turns: [[{ call: 'delegate', input: { tasks: [{ agent: 'child', message: 'go' }] } }], [{ say: 'done' }]],
      })}</script>`,
      multiagent: { type: 'coordinator', agents: [child] },
    });
    const vault = await createVault(client, bearer(mcp.url, 'token'));
    const session = await createSession(client, lead.id, vault.id);
    await sendAndWait(client, session);
    await vi.waitFor(() => expect(mcp.mcp.calls).toHaveLength(1), { timeout: 20_000 });
    expect(new Set(mcp.seen)).toEqual(new Set(['Bearer token']));
  }, options),
);

it.each(places)(
  '[VT24, VT25] a token that is refused is an error that names the server, and one that is changed is used by the next request, on %s',
  (_, inPlace) =>
    inPlace(async ({ client }) => {
      const mcp = await serveProtectedMcp('right');
      const agent = await createMcpAgent(client, mcp.url, 4);
      const vault = await createVault(client, bearer(mcp.url, 'wrong'));
      const [credential] = vault.credentials;
      const { credentials } = client.beta.vaults;
      const rotate = async (token: string) =>
        await credentials.update(credential!, { vault_id: vault.id, auth: { type: 'static_bearer', token } });
      const session = await createSession(client, agent, vault.id);
      const first = await sendAndWait(client, session);
      const errors = first.flatMap((event) => (event.type === 'session.error' ? [event.error] : []));
      expect(errors[0]).toMatchObject({ type: 'mcp_authentication_failed_error', mcp_server_name: 'tools' });
      expect(JSON.stringify(first)).not.toContain('wrong');
      // The session goes on without the tools of the server.
      expect(first.at(-1)!.type).toBe('session.status_idle');
      await rotate('right');
      const second = summarise(await sendAndWait(client, session));
      expect(second.join()).not.toContain('_error');
      mcp.accepts.clear();
      mcp.accepts.add('newer');
      await rotate('newer');
      expect(summarise(await sendAndWait(client, session)).join()).not.toContain('_error');
      expect(mcp.seen.at(-1)).toBe('Bearer newer');
      await credentials.archive(credential!, { vault_id: vault.id });
      const last = summarise(await sendAndWait(client, session));
      expect(last.join()).toMatch(/401|_error/);
      expect(mcp.seen.at(-1)).toBeUndefined();
    }, options),
);

it.each(places)(
  '[VT26, VT27] an expired token is renewed before it is sent, in each way of RFC 6749, and with the newest refresh token, on %s',
  (_, inPlace) =>
    inPlace(async ({ client }) => {
      let count = 0;
      const mcp = await serveProtectedMcp();
      const endpoint = await serveTokenEndpoint(() => {
        mcp.accepts.clear();
        mcp.accepts.add(`access${++count}`);
        return { body: { access_token: `access${count}`, expires_in: 30, refresh_token: `refresh${count}` } };
      });
      const agent = await createMcpAgent(client, mcp.url);
      const use = async (
        token_endpoint_auth: Anthropic.Beta.Vaults.BetaManagedAgentsMCPOAuthRefreshParams['token_endpoint_auth'],
      ) => {
        const vault = await createVault(client, {
          type: 'mcp_oauth',
          mcp_server_url: mcp.url,
          access_token: 'expired',
          expires_at: new Date(Date.now() + 30_000).toISOString(),
          refresh: {
            client_id: 'id:ü',
            refresh_token: 'refresh0',
            token_endpoint: endpoint.url,
            token_endpoint_auth,
            scope: 'a b',
            resource: mcp.url,
          },
        });
        endpoint.calls.length = 0;
        mcp.seen.length = 0;
        expect(summarise(await sendAndWait(client, await createSession(client, agent, vault.id)))).toEqual([
          'ran echo',
        ]);
        expect(mcp.seen).not.toContain('Bearer expired');
        return endpoint.calls;
      };
      const grant = { grant_type: 'refresh_token', refresh_token: 'refresh0', scope: 'a b', resource: mcp.url };
      const [none, ...later] = await use({ type: 'none' });
      expect(none!.form).toEqual({ ...grant, client_id: 'id:ü' });
      expect(none!.headers).toMatchObject({ accept: 'application/json' });
      expect(none!.headers.authorization).toBeUndefined();
      // It is valid for 30 s, less than a minute: each further request renews it again.
      expect(later[0]!.form['refresh_token']).toBe('refresh1');
      const [post] = await use({ type: 'client_secret_post', client_secret: 's+1' });
      expect(post!.form).toEqual({ ...grant, client_id: 'id:ü', client_secret: 's+1' });
      const [basic] = await use({ type: 'client_secret_basic', client_secret: 's+1' });
      expect(basic!.form).toEqual(grant);
      expect(basic!.headers.authorization).toBe(`Basic ${Buffer.from('id%3A%C3%BC:s%2B1').toString('base64')}`);
    }, options),
);

it.each(places)(
  '[VT26] a token that the server refuses is renewed once, and the request is sent again, on %s',
  (_, inPlace) =>
    inPlace(async ({ client }) => {
      const mcp = await serveProtectedMcp('renewed');
      const endpoint = await serveTokenEndpoint(() => ({ body: { access_token: 'renewed', expires_in: 3600 } }));
      const agent = await createMcpAgent(client, mcp.url, 2);
      const vault = await createVault(client, {
        type: 'mcp_oauth',
        mcp_server_url: mcp.url,
        access_token: 'revoked',
        refresh: {
          client_id: 'id',
          refresh_token: 'r',
          token_endpoint: endpoint.url,
          token_endpoint_auth: { type: 'none' },
        },
      });
      const session = await createSession(client, agent, vault.id);
      expect(summarise(await sendAndWait(client, session))).toEqual(['ran echo']);
      expect([endpoint.calls.length, mcp.seen.filter((header) => header === 'Bearer revoked').length]).toEqual([1, 1]);
      const read = await client.beta.vaults.credentials.retrieve(vault.credentials[0]!, { vault_id: vault.id });
      expect(read.auth).toHaveProperty('expires_at');
      // Not again: a token that was renewed a moment ago is refused for another reason.
      mcp.accepts.clear();
      const refused = summarise(await sendAndWait(client, session));
      expect([endpoint.calls.length, refused.join()]).toEqual([1, expect.stringMatching(/401|_error/)]);
    }, options),
);

it.each(places)(
  '[VT29, VT35] a refused grant is reported by one webhook and not tried again until the credential is updated, on %s',
  async (_, inPlace) => {
    let key = '';
    const receiver = await startReceiver(() => key);
    await inPlace(
      async ({ client, server }) => {
        key = server.webhookKey!;
        const mcp = await serveProtectedMcp('renewed');
        const endpoint = await serveTokenEndpoint(() => ({ status: 400, body: { error: 'invalid_grant' } }));
        const agent = await createMcpAgent(client, mcp.url, 3);
        const vault = await createVault(client, {
          type: 'mcp_oauth',
          mcp_server_url: mcp.url,
          access_token: 'revoked',
          refresh: {
            client_id: 'id',
            refresh_token: 'old',
            token_endpoint: endpoint.url,
            token_endpoint_auth: { type: 'none' },
          },
        });
        const session = await createSession(client, agent, vault.id);
        expect(summarise(await sendAndWait(client, session)).join()).toContain('mcp_authentication_failed_error');
        await sendAndWait(client, session);
        expect(endpoint.calls).toHaveLength(1);
        endpoint.reply = () => ({ body: { access_token: 'renewed' } });
        const [credential = ''] = vault.credentials;
        await client.beta.vaults.credentials.update(credential, {
          vault_id: vault.id,
          auth: { type: 'mcp_oauth', refresh: { refresh_token: 'new' } },
        });
        expect(summarise(await sendAndWait(client, session)).join()).not.toContain('_error');
        expect(endpoint.calls.map(({ form }) => form['refresh_token'])).toEqual(['old', 'new']);
        await client.beta.vaults.archive(vault.id);
        await client.beta.vaults.delete(vault.id);
        const types = () => receiver.types().filter((type) => type.startsWith('vault'));
        await vi.waitFor(() => expect(types()).toHaveLength(7), { timeout: 30_000 });
        expect(types()).toEqual([
          'vault.created',
          'vault_credential.created',
          'vault_credential.refresh_failed',
          'vault_credential.archived',
          'vault.archived',
          'vault_credential.deleted',
          'vault.deleted',
        ]);
        const failed = receiver.attempts.find(({ event }) => event.data.type === 'vault_credential.refresh_failed');
        expect(failed!.event.data).toEqual({
          type: 'vault_credential.refresh_failed',
          id: credential,
          vault_id: vault.id,
          organization_id: 'org_default',
          workspace_id: 'wrkspc_default',
        });
      },
      { ...options, webhooks: { urls: [receiver.url] } },
    );
  },
);

it.each(places)(
  '[VT31] a server that redirects to another one does not get the token sent there, on %s',
  (_, inPlace) =>
    inPlace(async ({ client }) => {
      const other = await serveProtectedMcp('token');
      const redirecting = createServer((_, response) => response.writeHead(307, { location: other.url }).end());
      const host = await listen(redirecting);
      const agent = await createMcpAgent(client, `http://${host}/mcp`);
      const vault = await createVault(client, bearer(`http://${host}/mcp`, 'token'));
      const events = summarise(await sendAndWait(client, await createSession(client, agent, vault.id)));
      expect(events.join()).toContain('mcp_connection_failed_error');
      expect(other.seen).toEqual([]);
    }, options),
);

it.each(places)(
  '[VT32] a token endpoint on a private address is not asked, unless the operator allows it, on %s',
  (_, inPlace) =>
    inPlace(
      async ({ client }) => {
        const endpoint = await serveTokenEndpoint(() => ({ body: { access_token: 'renewed' } }));
        const mcp = await serveProtectedMcp('renewed');
        const vault = await createVault(client, {
          type: 'mcp_oauth',
          mcp_server_url: mcp.url,
          access_token: 'expired',
          expires_at: new Date(Date.now() + 30_000).toISOString(),
          refresh: {
            client_id: 'id',
            refresh_token: 'r',
            token_endpoint: endpoint.url,
            token_endpoint_auth: { type: 'none' },
          },
        });
        const session = await createSession(client, await createMcpAgent(client, mcp.url), vault.id);
        const events = summarise(await sendAndWait(client, session));
        expect(events.join()).toMatch(/_error/);
        expect([endpoint.calls, mcp.seen]).toEqual([[], []]);
      },
      { isOpen: true },
    ),
);

it.each(places)('[VT37] a fork has the vaults of its session, on %s', (_, inPlace) =>
  inPlace(async ({ client }) => {
    const mcp = await serveProtectedMcp('token');
    const vault = await createVault(client, bearer(mcp.url, 'token'));
    const session = await createSession(client, await createMcpAgent(client, mcp.url, 2), vault.id);
    await sendAndWait(client, session);
    const forked = await client.post<{ id: string; vault_ids: string[] }>(`/v1/sessions/${session}/fork`, { body: {} });
    expect(forked.vault_ids).toEqual([vault.id]);
    mcp.seen.length = 0;
    expect(summarise(await sendAndWait(client, forked.id))).toEqual(['ran echo']);
    expect(new Set(mcp.seen)).toEqual(new Set(['Bearer token']));
  }, options),
);
