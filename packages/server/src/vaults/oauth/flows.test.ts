import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { openConnections } from '../../base/outgoing-http.ts';
import { rewrapSome } from '../../keys/sealed-rows.ts';
import { createSealer } from '../../keys/sealer.ts';
import type { Auditor } from '../../store/audit.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { codeOf } from '../../store/suite/samples.suite.ts';
import { createEventWriter } from '../../webhooks/resource-events.ts';
import { createCredentials } from '../credentials.ts';
import { vaultLimits } from '../limits.ts';
import { createSecretBox } from '../secret-box.ts';
import { createVaults } from '../vaults.ts';
import { type Script, serveScripted, toServerMetadata } from './authorization-server.suite.ts';
import type { Callback } from './finish-flow.ts';
import { createOAuthFlows, type OAuthFlowParams } from './flows.ts';
import { flowSecrets, OAUTH_FLOW } from './stored-flow.ts';

vi.setConfig({ testTimeout: 60_000 });

const workspaceId = 'w1';
const ownUrl = 'http://127.0.0.1:4280';
const key = Buffer.alloc(32, 7);
const audit: Auditor = (action, target, details) => ({ workspaceId, data: { action, by: 'me', target, details } });

/** One node on a store. */
function openNode(store: Store, clock = createManualClock(Date.now()), allowedPrivateHosts = ['127.0.0.1']) {
  const ids = createIds({ now: clock.now, random: Math.random });
  const openSealer = async () => createSealer(key);
  const secrets = createSecretBox(store, openSealer);
  const events = createEventWriter(ids, () => {});
  const connections = openConnections();
  onTestFinished(() => connections.close());
  const rules = { allowedPrivateHosts, resolveHost: async () => [] };
  const credentials = createCredentials({ store, secrets, events, clock, ids });
  return {
    clock,
    credentials,
    vaults: createVaults({ store, events, clock, ids }),
    flows: createOAuthFlows({ store, credentials, openSealer, connections, rules, clock, ids }),
  };
}

/** A vault, and a flow in it that waits for a user. */
async function begin(script: Script = () => undefined, params: Partial<OAuthFlowParams> = {}) {
  const store = createMemoryStore();
  const node = openNode(store);
  const server = await serveScripted(script);
  const { id: vaultId } = await node.vaults.create(workspaceId, { display_name: 'v' });
  const path = { workspaceId, vaultId };
  const started = await node.flows.begin(path, { mcp_server_url: server.url, ...params }, ownUrl, audit);
  const address = new URL(started.authorization_url);
  const state = address.searchParams.get('state')!;
  const list = async () =>
    (await node.credentials.list(path, { limit: 20, includeArchived: true })).data.map((each) => each.id);
  const callback: Callback = {
    state,
    code: 'the-code',
    error: undefined,
    errorDescription: undefined,
    issuer: server.origin,
    address: null,
  };
  return { ...node, store, server, path: { ...path, id: started.id }, address, callback, list };
}

/** What beginning comes to with a script. */
async function refused(script: Script): Promise<unknown> {
  return await begin(script).then(
    () => 'started',
    (error: Error) => error.message,
  );
}

it('[VT70] the metadata is found where the 401 says, else below the path of the server, else at its root', async () => {
  const metadata = (origin: string) => ({ resource: `${origin}/mcp`, authorization_servers: [origin] });
  const usual = '/.well-known/oauth-protected-resource';
  const challenge = (origin: string) => ({
    status: 401,
    headers: { 'www-authenticate': `Basic realm="x", Bearer scope="a b", resource_metadata="${origin}/here"` },
  });
  const given = await begin((path, origin) => {
    if (path === '/mcp') return challenge(origin);
    return path === '/here' ? { body: metadata(origin) } : undefined;
  });
  expect(given.server.requests.map(({ path }) => path).filter((path) => path.startsWith(usual))).toEqual([]);
  expect(given.address.searchParams.get('scope')).toBe('a b');
  const root = await begin((path, origin) => {
    if (path === `${usual}/mcp`) return { status: 404 };
    return path === usual ? { body: { ...metadata(origin), resource: origin } } : undefined;
  });
  expect(root.address.searchParams.get('resource')).toBe(root.server.origin);
});

it('[VT70] the metadata of an issuer with a path is looked for at its three addresses', async () => {
  const issuerOf = (origin: string) => `${origin}/tenant/`;
  const script: Script = (path, origin) => {
    if (path === '/.well-known/oauth-protected-resource/mcp') {
      return { body: { resource: `${origin}/mcp`, authorization_servers: [issuerOf(origin)] } };
    }
    if (path === '/tenant/.well-known/openid-configuration') {
      return { body: { ...toServerMetadata(origin), issuer: issuerOf(origin) } };
    }
    return undefined;
  };
  const { server } = await begin(script);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/mcp',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server/tenant',
    '/.well-known/openid-configuration/tenant',
    '/tenant/.well-known/openid-configuration',
    '/register',
  ]);
});

it('[VT71] a server that registers clients gets the redirect of this server, and a client of its own choice is used', async () => {
  const { server, address } = await begin();
  const { body } = server.requests.find(({ path }) => path === '/register')!;
  expect(JSON.parse(body)).toMatchObject({
    redirect_uris: [`${ownUrl}/oauth-callback`],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  });
  expect(address.searchParams.get('client_id')).toBe('registered');
  const confidential = await begin((path) =>
    path === '/register'
      ? {
          status: 201,
          body: { client_id: 'c', client_secret: 's', token_endpoint_auth_method: 'client_secret_post' },
        }
      : undefined,
  );
  expect((await confidential.flows.finish(confidential.callback)).type).toBe('completed');
  const form = new URLSearchParams(confidential.server.requests.find(({ path }) => path === '/token')!.body);
  expect([form.get('client_id'), form.get('client_secret')]).toEqual(['c', 's']);
});

it('[VT71] an authorization server that reads the metadata of clients does so from a public https address, and from no other', async () => {
  const script: Script = (path, origin) =>
    path === '/.well-known/oauth-authorization-server'
      ? { body: { ...toServerMetadata(origin), client_id_metadata_document_supported: true } }
      : undefined;
  const clientAt = async (url: string, addresses: string[]) => {
    const store = createMemoryStore();
    const clock = createManualClock(Date.now());
    const node = openNode(store, clock);
    const server = await serveScripted(script);
    const connections = openConnections();
    onTestFinished(() => connections.close());
    const flows = createOAuthFlows({
      store,
      credentials: node.credentials,
      openSealer: async () => createSealer(key),
      connections,
      rules: { allowedPrivateHosts: ['127.0.0.1', 'fleet.test'], resolveHost: async () => addresses },
      clock,
      ids: createIds({ now: clock.now, random: Math.random }),
    });
    const { id: vaultId } = await node.vaults.create(workspaceId, { display_name: 'v' });
    const started = await flows.begin({ workspaceId, vaultId }, { mcp_server_url: server.url }, url, audit);
    return new URL(started.authorization_url).searchParams.get('client_id');
  };
  expect(await clientAt('https://fleet.test', ['93.184.216.34'])).toBe('https://fleet.test/oauth-client.json');
  expect(await clientAt('https://fleet.test', ['10.0.0.1'])).toBe('registered');
  expect(await clientAt('http://fleet.test', ['93.184.216.34'])).toBe('registered');
});

it('[VT72] metadata about another server or issuer, endpoints of other schemes and servers without PKCE are refused', async () => {
  const resource = '/.well-known/oauth-protected-resource/mcp';
  const server = '/.well-known/oauth-authorization-server';
  const withResource = (change: (origin: string) => object) =>
    refused((path, origin) =>
      path === resource
        ? { body: { resource: `${origin}/mcp`, authorization_servers: [origin], ...change(origin) } }
        : undefined,
    );
  const withServer = (change: (origin: string) => object) =>
    refused((path, origin) =>
      path === server ? { body: { ...toServerMetadata(origin), ...change(origin) } } : undefined,
    );
  const outcomes = {
    'another site': await withResource(() => ({ resource: 'https://mcp.example.com/mcp' })),
    'another path': await withResource((origin) => ({ resource: `${origin}/mcp2` })),
    'a part of a name': await withResource((origin) => ({ resource: `${origin}/mc` })),
    'no authorization server': await withResource(() => ({ authorization_servers: [] })),
    'a script as issuer': await withResource(() => ({ authorization_servers: ['javascript:alert(1)'] })),
    'another issuer': await withServer((origin) => ({ issuer: `${origin}/` })),
    'a script as page': await withServer(() => ({ authorization_endpoint: 'javascript:alert(1)' })),
    'a file as page': await withServer(() => ({ authorization_endpoint: 'file:///etc/passwd' })),
    'a user name in an endpoint': await withServer(() => ({ token_endpoint: 'http://a:b@127.0.0.1/token' })),
    'no PKCE': await withServer(() => ({ code_challenge_methods_supported: ['plain'] })),
    'PKCE not said': await withServer(() => ({ code_challenge_methods_supported: undefined })),
  };
  for (const [what, outcome] of Object.entries(outcomes)) expect([what, outcome]).not.toEqual([what, 'started']);
  expect(outcomes['another issuer']).toContain('another issuer');
  expect(outcomes['a script as page']).toContain('no endpoints that can be used');
});

it('[VT72] redirects, errors, huge and slow answers count as not there, and private addresses are not connected to', async () => {
  const server = '/.well-known/oauth-authorization-server';
  const at = (path: string, answer: object) => refused((asked) => (asked === path ? answer : undefined));
  const elsewhere = { status: 302, headers: { location: 'http://127.0.0.1:1/' } };
  expect(await at(server, elsewhere)).toContain('does not say where its endpoints are');
  expect(await at(server, { body: 'not JSON' })).toContain('does not say where its endpoints are');
  expect(await at(server, { body: '[]' })).toContain('does not say where its endpoints are');
  const padding = vaultLimits.metadataBytesMax;
  expect(await at(server, { padding })).toContain('does not say where its endpoints are');
  expect(await at('/register', { status: 400, body: { error: 'canary' } })).toMatch(/not registered.*status 400/);
  expect(await at('/register', { status: 201, body: { client_id: 7 } })).toContain('not registered');
  expect(await at('/register', { status: 201, body: { client_id: 'a\nb' } })).toContain('not registered');
  const { metadataBytesMax, oauthDiscoveryMs, oauthFlowMs, oauthFlowKeepMs } = vaultLimits;
  expect([metadataBytesMax, oauthDiscoveryMs, oauthFlowMs, oauthFlowKeepMs]).toEqual([
    262_144, 30_000, 900_000, 900_000,
  ]);

  const node = openNode(createMemoryStore(), createManualClock(Date.now()), []);
  const scripted = await serveScripted(() => undefined);
  const { id: vaultId } = await node.vaults.create(workspaceId, { display_name: 'v' });
  const started = node.flows.begin({ workspaceId, vaultId }, { mcp_server_url: scripted.url }, ownUrl, audit);
  expect(await codeOf(started)).toBe('oauth_not_discovered');
  expect(scripted.requests).toEqual([]);
});

it('[VT72] all requests together have 30 s, and one of them 10 s', async () => {
  const store = createMemoryStore();
  const clock = createManualClock(Date.now());
  const node = openNode(store, clock);
  // Each answer takes as long as a request may take.
  const scripted = await serveScripted((path) => {
    clock.advance(vaultLimits.tokenEndpointMs);
    return path === '/mcp' ? undefined : { status: 404 };
  });
  const { id: vaultId } = await node.vaults.create(workspaceId, { display_name: 'v' });
  const started = node.flows.begin({ workspaceId, vaultId }, { mcp_server_url: scripted.url }, ownUrl, audit);
  expect(await codeOf(started)).toBe('oauth_not_discovered');
  expect(scripted.requests).toHaveLength(3);
});

it('[VT73] another state or issuer ends the flow as failed, and nothing is stored or sent to the token endpoint', async () => {
  const fail = async (change: (callback: Callback) => Partial<Callback>) => {
    const { flows, callback, path, list, server, store } = await begin();
    const result = await flows.finish({ ...callback, ...change(callback) });
    expect(server.requests.filter((each) => each.path === '/token')).toEqual([]);
    expect(await list()).toEqual([]);
    const flow = await flows.get(path);
    expect(await codeOf(flows.get({ ...path, workspaceId: 'w2' }))).toBe('oauth_flow_not_found');
    // It cannot be used any more, and its secrets are gone.
    if (flow.status === 'failed') {
      expect(await flows.finish(callback)).toEqual({ type: 'unknown' });
      expect((await store.documents.get(OAUTH_FLOW, path.id))!.data['sealed']).toBeNull();
    }
    return [result.type, flow.status, flow.status === 'failed' ? flow.error.type : ''];
  };
  expect(await fail(({ state }) => ({ state: `${state}x` }))).toEqual(['failed', 'failed', 'state_mismatch']);
  expect(await fail(() => ({ issuer: 'https://evil.example' }))).toEqual(['failed', 'failed', 'issuer_mismatch']);
  expect(await fail(({ issuer }) => ({ issuer: `${issuer}/` }))).toEqual(['failed', 'failed', 'issuer_mismatch']);
  // The metadata says that it is always there.
  expect(await fail(() => ({ issuer: undefined }))).toEqual(['failed', 'failed', 'issuer_mismatch']);
  expect(await fail(() => ({ error: 'access_denied', issuer: 'https://evil.example' }))).toEqual([
    'failed',
    'failed',
    'issuer_mismatch',
  ]);
  expect(await fail(() => ({ code: undefined }))).toEqual(['failed', 'failed', 'authorization_refused']);
  for (const state of ['', '.', 'vflow_1.x', 'vflow_1', 'x'.repeat(10_000)]) {
    expect(await fail(() => ({ state }))).toEqual(['unknown', 'pending', '']);
  }
});

it('[VT73] an issuer may be left out only by a server that has not said that it names itself', async () => {
  const { flows, callback } = await begin((path, origin) =>
    path === '/.well-known/oauth-authorization-server'
      ? { body: { ...toServerMetadata(origin), authorization_response_iss_parameter_supported: undefined } }
      : undefined,
  );
  expect((await flows.finish({ ...callback, issuer: undefined })).type).toBe('completed');
});

it('[VT74] another node finishes the flow, and of callbacks at the same moment one uses the code', async () => {
  const { flows, store, clock, callback, path, server, list } = await begin();
  const other = openNode(store, clock);
  const results = await Promise.all([other.flows.finish(callback), flows.finish(callback), flows.finish(callback)]);
  expect(results.map(({ type }) => type).sort()).toEqual(['completed', 'unknown', 'unknown']);
  expect(await other.flows.finish(callback)).toEqual({ type: 'unknown' });
  expect(server.requests.filter((each) => each.path === '/token')).toHaveLength(1);
  const [credential, ...more] = await list();
  expect(more).toEqual([]);
  expect(await other.flows.get(path)).toMatchObject({ status: 'completed', credential_id: credential });
});

it('[VT74] a token endpoint that refuses, or answers without a token, ends the flow without showing what it said', async () => {
  for (const answer of [
    { status: 400, body: { error: 'canary' } },
    { body: { error: 'canary' } },
    { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    { padding: vaultLimits.tokenResponseBytesMax },
  ]) {
    const { flows, callback, path, list } = await begin((asked) => (asked === '/token' ? answer : undefined));
    const result = await flows.finish(callback);
    expect(result).toMatchObject({ type: 'failed', error: { type: 'token_request_failed' } });
    expect(JSON.stringify(await flows.get(path))).not.toContain('canary');
    expect(await list()).toEqual([]);
  }
});

it('[VT75] a flow can be finished for 15 min, and is asked about for 15 more; what it was begun with is sealed', async () => {
  const {
    flows,
    vaults,
    credentials: _,
    store,
    clock,
    callback,
    path,
    server,
  } = await begin(undefined, {
    client_id: 'mine',
    client_secret: 'canary-secret',
  });
  const stored = JSON.stringify(await store.documents.get(OAUTH_FLOW, path.id));
  expect(stored).not.toContain('canary');
  expect(stored).not.toContain(callback.state.split('.')[1]);
  const other = createSealer(Buffer.alloc(32, 8), [key]);
  expect((await rewrapSome(store, [flowSecrets], other, { max: 10 })).rewrapped).toBe(1);

  clock.advance(vaultLimits.oauthFlowMs - 1);
  expect((await flows.get(path)).status).toBe('pending');
  clock.advance(1);
  expect(await flows.get(path)).toMatchObject({ status: 'failed', error: { type: 'expired' } });
  expect(await flows.finish(callback)).toEqual({ type: 'unknown' });
  const again = async () => {
    const { id: vaultId } = await vaults.create(workspaceId, { display_name: 'w' });
    await flows.begin({ workspaceId, vaultId }, { mcp_server_url: server.url }, ownUrl, audit);
  };
  clock.advance(vaultLimits.oauthFlowKeepMs - 1);
  await again();
  expect((await flows.get(path)).status).toBe('failed');
  clock.advance(1);
  await again();
  expect(await codeOf(flows.get(path))).toBe('oauth_flow_not_found');
});

it('[VT75] the text of another server in an error is one line of plain characters', async () => {
  const { flows, callback } = await begin();
  const errorDescription = `\u202e<script>\r\nalert(1)</script>${'x'.repeat(1_000)}`;
  const result = await flows.finish({ ...callback, error: 'access_denied', errorDescription });
  const message = result.type === 'failed' ? result.error.message : '';
  expect(message).toMatch(/^the authorization server refused: access_denied: {1,2}<script> alert\(1\)<\/script>x+$/);
  expect(message.length).toBeLessThan(400);
});
