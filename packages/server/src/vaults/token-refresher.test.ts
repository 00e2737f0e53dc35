import { expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../../../test/support/postgres.ts';
import { createManualClock } from '../base/clock.ts';
import { createIds } from '../base/ids.ts';
import { openConnections } from '../base/outgoing-http.ts';
import { createSealer } from '../keys/sealer.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { openPostgresStore } from '../store/postgres/postgres-store.ts';
import type { Store } from '../store/store.ts';
import { createEventWriter, RESOURCE_EVENT } from '../webhooks/resource-events.ts';
import { createCredentials } from './credentials.ts';
import { vaultLimits } from './limits.ts';
import { createMcpAuthorization } from './mcp-authorizations.ts';
import { serveTokenEndpoint, type TokenEndpoint } from './oauth-mcp.suite.ts';
import { createSecretBox } from './secret-box.ts';
import { SECRET } from './stored.ts';
import { createTokenRefresher } from './token-refresher.ts';
import { createVaults } from './vaults.ts';

vi.setConfig({ testTimeout: 60_000 });

const start = Date.UTC(2026, 0, 1);
const workspaceId = 'w1';
const url = 'https://mcp.example.com/mcp';

/** One node on a store: everything that needs no HTTP of its own. */
function openNode(store: Store, clock = createManualClock(start)) {
  const ids = createIds({ now: clock.now, random: Math.random });
  const secrets = createSecretBox(store, async () => createSealer(Buffer.alloc(32, 7)));
  const events = createEventWriter(ids, () => {});
  const connections = openConnections();
  onTestFinished(() => connections.close());
  const rules = { allowedPrivateHosts: ['127.0.0.1'], resolveHost: async () => [] };
  const refresher = createTokenRefresher({ store, secrets, events, connections, rules });
  return {
    clock,
    secrets,
    refresher,
    vaults: createVaults({ store, events, clock, ids }),
    credentials: createCredentials({ store, secrets, events, clock, ids }),
    authorize: (...vaultIds: string[]) =>
      createMcpAuthorization(
        { store, secrets, refresher, clock },
        async () => ({ workspaceId, vaultIds }),
        async () => {},
      ),
  };
}

type TestNode = ReturnType<typeof openNode>;

/** A credential whose token expires soon. */
async function addCredential({ vaults, credentials }: TestNode, endpoint: TokenEndpoint, expiresInMs = 30_000) {
  const vault = await vaults.create(workspaceId, { display_name: 'v' });
  const { id } = await credentials.create(
    { workspaceId, vaultId: vault.id },
    {
      auth: {
        type: 'mcp_oauth',
        mcp_server_url: url,
        access_token: 'old',
        expires_at: new Date(start + expiresInMs).toISOString(),
        refresh: {
          client_id: 'id',
          refresh_token: 'r0',
          token_endpoint: endpoint.url,
          token_endpoint_auth: { type: 'none' },
        },
      },
    },
  );
  return { workspaceId, vaultId: vault.id, id };
}

it('[VT28] ten sessions on three nodes renew one expired token once, and all use the new one', async () => {
  const place = await testDatabase();
  const clock = createManualClock(start);
  const stores = await Promise.all(Array.from({ length: 3 }, () => openPostgresStore({ ...place, clock })));
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
  const nodes = stores.map((store) => openNode(store, clock));
  let finish = () => {};
  const after = new Promise<void>((resolve) => (finish = resolve));
  const endpoint = await serveTokenEndpoint(() => ({ body: { access_token: 'new', expires_in: 3600 }, after }));
  const { vaultId } = await addCredential(nodes[0]!, endpoint);
  const finding = Array.from({ length: 10 }, (_, at) => nodes[at % 3]!.authorize(vaultId).find(url));
  await vi.waitFor(() => expect(endpoint.calls).toHaveLength(1), { timeout: 20_000 });
  // The others have seen the claim and wait.
  await new Promise((resolve) => setTimeout(resolve, 4 * vaultLimits.refreshPollMs));
  finish();
  expect(new Set(await Promise.all(finding))).toEqual(new Set(['Bearer new']));
  expect(endpoint.calls).toHaveLength(1);
});

it('[VT28] the claim of a node that was killed ends after 15 s', async () => {
  const clock = createManualClock(start);
  const store = createMemoryStore({ clock });
  const node = openNode(store, clock);
  const endpoint = await serveTokenEndpoint(() => ({ body: { access_token: 'new' } }));
  const path = await addCredential(node, endpoint);
  const document = (await store.documents.get('vault_credential', path.id))!;
  const claimed = { ...(document.data['refresh'] as object), claimedUntil: start + vaultLimits.refreshClaimMs };
  await store.documents.put({ kind: 'vault_credential', id: path.id, data: { ...document.data, refresh: claimed } });
  let isDone = false;
  const finding = node
    .authorize(path.vaultId)
    .find(url)
    .finally(() => (isDone = true));
  await new Promise((resolve) => setTimeout(resolve, 3 * vaultLimits.refreshPollMs));
  expect([isDone, endpoint.calls.length]).toEqual([false, 0]);
  clock.advance(vaultLimits.refreshClaimMs);
  expect(await finding).toBe('Bearer new');
});

it('[VT30] after a failure the token is used while it is valid, and the endpoint is asked again after 1 s, doubling to 5 min', async () => {
  const clock = createManualClock(start);
  const store = createMemoryStore({ clock });
  const node = openNode(store, clock);
  const endpoint = await serveTokenEndpoint(() => ({ status: 503, body: {} }));
  const { vaultId } = await addCredential(node, endpoint, 20_000);
  const authorization = node.authorize(vaultId);
  const find = async () => [await authorization.find(url), endpoint.calls.length];
  expect(await find()).toEqual(['Bearer old', 1]);
  expect(await find()).toEqual(['Bearer old', 1]);
  clock.advance(vaultLimits.refreshRetryMs - 1);
  expect(await find()).toEqual(['Bearer old', 1]);
  clock.advance(1);
  expect(await find()).toEqual(['Bearer old', 2]);
  clock.advance(1_999);
  expect(await find()).toEqual(['Bearer old', 2]);
  endpoint.reply = () => ({ status: 429, body: {} });
  clock.advance(1);
  expect(await find()).toEqual(['Bearer old', 3]);
  clock.advance(20_000);
  expect(await find()).toEqual([undefined, 4]);
  for (let failures = 0; failures < 12; failures++) {
    clock.advance(vaultLimits.refreshRetryMsMax);
    await find();
  }
  const calls = endpoint.calls.length;
  clock.advance(vaultLimits.refreshRetryMsMax - 1);
  expect(await find()).toEqual([undefined, calls]);
  endpoint.reply = () => ({ body: { access_token: 'new', expires_in: 3600 } });
  clock.advance(1);
  expect(await find()).toEqual(['Bearer new', calls + 1]);
});

it('[VT26] a token is renewed from 60 s before it expires on, and not before', async () => {
  const clock = createManualClock(start);
  const node = openNode(createMemoryStore({ clock }), clock);
  const endpoint = await serveTokenEndpoint(() => ({ body: { access_token: 'new', expires_in: '3600' } }));
  const path = await addCredential(node, endpoint, vaultLimits.refreshEarlyMs + 1_000);
  const authorization = node.authorize(path.vaultId);
  clock.advance(999);
  expect(await authorization.find(url)).toBe('Bearer old');
  clock.advance(1);
  expect(await authorization.find(url)).toBe('Bearer new');
  const { auth } = await node.credentials.get(path);
  expect(auth).toMatchObject({ expires_at: new Date(start + 1_000 + 3_600_000).toISOString() });
});

it('[VT27] an update of the caller while a token is being renewed counts more than the renewed token', async () => {
  const clock = createManualClock(start);
  const node = openNode(createMemoryStore({ clock }), clock);
  let finish = () => {};
  const after = new Promise<void>((resolve) => (finish = resolve));
  const endpoint = await serveTokenEndpoint(() => ({ body: { access_token: 'renewed' }, after }));
  const path = await addCredential(node, endpoint);
  const finding = node.authorize(path.vaultId).find(url);
  await vi.waitFor(() => expect(endpoint.calls).toHaveLength(1));
  await node.credentials.update(path, { metadata: { a: 'b' } });
  await node.credentials.update(path, {
    auth: { type: 'mcp_oauth', access_token: 'given', expires_at: new Date(start + 3_600_000).toISOString() },
  });
  finish();
  await finding;
  expect(await node.authorize(path.vaultId).find(url)).toBe('Bearer given');
  expect((await node.secrets.read(path))!.secrets.refresh_token).toBe('r0');
});

it('[VT64] an update while a token is being renewed starts no second request, and keeps a refresh token that was replaced', async () => {
  const clock = createManualClock(start);
  const node = openNode(createMemoryStore({ clock }), clock);
  let finish = () => {};
  const after = new Promise<void>((resolve) => (finish = resolve));
  const endpoint = await serveTokenEndpoint(() => ({ body: { access_token: 'renewed', refresh_token: 'r1' }, after }));
  const path = await addCredential(node, endpoint);
  const finding = node.authorize(path.vaultId).find(url);
  await vi.waitFor(() => expect(endpoint.calls).toHaveLength(1));
  const expires_at = new Date(start + 40_000).toISOString();
  await node.credentials.update(path, { auth: { type: 'mcp_oauth', access_token: 'given', expires_at } });
  const other = node.authorize(path.vaultId).find(url);
  // The refresh token can be used once, and is under way.
  await new Promise((resolve) => setTimeout(resolve, 4 * vaultLimits.refreshPollMs));
  expect(endpoint.calls).toHaveLength(1);
  endpoint.reply = () => ({ body: { access_token: 'again', expires_in: 3600 } });
  finish();
  await finding;
  expect(await other).toBe('Bearer again');
  expect(endpoint.calls.map(({ form }) => form['refresh_token'])).toEqual(['r0', 'r1']);
});

it('[VT64] a token that is renewed while its credential is archived or deleted is not stored', async () => {
  for (const what of ['archive', 'delete'] as const) {
    const clock = createManualClock(start);
    const store = createMemoryStore({ clock });
    const node = openNode(store, clock);
    let finish = () => {};
    const after = new Promise<void>((resolve) => (finish = resolve));
    const endpoint = await serveTokenEndpoint(() => ({ body: { access_token: 'renewed' }, after }));
    const path = await addCredential(node, endpoint);
    const finding = node.authorize(path.vaultId).find(url);
    await vi.waitFor(() => expect(endpoint.calls).toHaveLength(1));
    await node.credentials[what](path);
    finish();
    await finding.catch(() => {});
    expect((await store.documents.list({ kind: SECRET, limit: 9 })).items).toEqual([]);
    expect(await node.authorize(path.vaultId).find(url)).toBeUndefined();
  }
});

it('[VT20] archiving and deleting erase the secret in the commit that archives or deletes', async () => {
  const clock = createManualClock(start);
  const inner = createMemoryStore({ clock });
  const changes: string[][] = [];
  const change: Store['documents']['change'] = async (asked, audit) => {
    changes.push(asked.map(({ type, kind, id }) => `${type} ${kind} ${id}`));
    await inner.documents.change(asked, audit);
  };
  const store = { ...inner, documents: { ...inner.documents, change } };
  const node = openNode(store, clock);
  const endpoint = await serveTokenEndpoint(() => ({ body: {} }));
  const [one, two, three] = [
    await addCredential(node, endpoint),
    await addCredential(node, endpoint),
    await addCredential(node, endpoint),
  ];
  changes.length = 0;
  await node.credentials.archive(one);
  await node.vaults.archive(workspaceId, two.vaultId);
  await node.vaults.delete(workspaceId, three.vaultId);
  const put = 'put vault_credential';
  expect(changes).toHaveLength(3);
  expect(changes[0]).toEqual(expect.arrayContaining([`${put} ${one.id}`, `delete ${SECRET} ${one.id}`]));
  expect(changes[1]).toEqual(expect.arrayContaining([`put vault ${two.vaultId}`, `delete ${SECRET} ${two.id}`]));
  expect(changes[2]).toEqual(expect.arrayContaining([`delete vault ${three.vaultId}`, `delete ${SECRET} ${three.id}`]));
  // The events are part of the same commits.
  for (const each of changes) expect(each.some((text) => text.startsWith(`put ${RESOURCE_EVENT} `))).toBe(true);
  expect((await inner.documents.list({ kind: SECRET, limit: 9 })).items).toEqual([]);
});

it('[VT20] a credential that is added while its vault is archived is refused or archived with it', async () => {
  const store = createMemoryStore();
  const node = openNode(store);
  for (let round = 0; round < 10; round++) {
    const vault = await node.vaults.create(workspaceId, { display_name: 'v' });
    const path = { workspaceId, vaultId: vault.id };
    const auth = { type: 'static_bearer', mcp_server_url: url, token: 't' } as const;
    const adding = node.credentials.create(path, { auth }).catch(() => undefined);
    await Promise.all([adding, node.vaults.archive(workspaceId, vault.id)]);
    const { data } = await node.credentials.list(path, { limit: 9, includeArchived: false });
    expect(data).toEqual([]);
  }
  expect((await store.documents.list({ kind: SECRET, limit: 9 })).items).toEqual([]);
});
