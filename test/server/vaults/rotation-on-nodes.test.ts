import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createSealer, keyIdOf } from '../../../packages/server/src/keys/sealer.ts';
import { type FleetloomServer, startOn } from '../../../packages/server/src/server.ts';
import { openPostgresStore } from '../../../packages/server/src/store/postgres/postgres-store.ts';
import { serveProtectedMcp } from '../../../packages/server/src/vaults/oauth-mcp.suite.ts';
import { vaultSecrets } from '../../../packages/server/src/vaults/sealed-kinds.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { isLong } from '../../support/seed.ts';
import { connect } from '../server.suite.ts';
import { createMcpAgent, createSession, createVault, sendAndWait } from './vaults.suite.ts';

// Nodes are restarted nine times, and a busy machine takes its time for each.
vi.setConfig({ testTimeout: 300_000 });

const CREDENTIALS = 12;
const VAULTS = isLong ? 100 : 3;
const [OLD, NEW] = [randomBytes(32), randomBytes(32)];

it('[VT201, ID200] the master key and an API key are rotated on three nodes under load: no request fails, and afterwards the old master key opens nothing', async () => {
  const mcp = await serveProtectedMcp('token');
  const fleet = await openNodes(await testDatabase());
  const [first] = fleet.nodes;
  const key = { id: '', secret: first!.firstKey! };
  const admin = (node: FleetloomServer) => connect(node.url, key.secret);
  const created = await admin(first!).post<{ id: string; secret: string }>('/v1/fleet/keys', {
    body: { name: 'load' },
  });
  Object.assign(key, created);
  await expect
    .poll(async () => Promise.all(fleet.nodes.map((node) => statusOf(node, key.secret))))
    .toEqual([200, 200, 200]);

  const auths = Array.from({ length: CREDENTIALS }, (_, at) => {
    return { type: 'mcp_oauth' as const, mcp_server_url: `${mcp.url}/${at === 0 ? '' : at}`, access_token: 'token' };
  });
  const vaults = await Promise.all(
    Array.from({ length: VAULTS }, (_, at) => createVault(admin(fleet.nodes[at % 3]!), ...auths)),
  );
  const session = await createSession(admin(first!), await createMcpAgent(admin(first!), mcp.url, 200), vaults[0]!.id);

  const failures: unknown[] = [];
  const counts = { validated: 0, changed: 0, used: 0, keys: 0 };
  const load = { isOver: false };
  const repeat = async (step: (turn: number) => Promise<void>) => {
    for (let turn = 0; !load.isOver; turn++) await step(turn).catch((error: unknown) => failures.push(error));
  };
  const working = [
    repeat(async (turn) => {
      const { id, credentials } = vaults[turn % VAULTS]!;
      const validation = await fleet.ask(turn, (node) =>
        admin(node).beta.vaults.credentials.mcpOAuthValidate(credentials[0]!, { vault_id: id }),
      );
      if (validation.status !== 'valid') throw new Error(JSON.stringify(validation));
      counts.validated++;
    }),
    repeat(async (turn) => {
      const { id, credentials } = vaults[turn % VAULTS]!;
      const auth = { type: 'mcp_oauth', access_token: 'token' } as const;
      await fleet.ask(turn + 1, (node) =>
        admin(node).beta.vaults.credentials.update(credentials[turn % CREDENTIALS]!, { vault_id: id, auth }),
      );
      counts.changed++;
    }),
    repeat(async (turn) => {
      const events = await fleet.ask(turn + 2, (node) => sendAndWait(admin(node), session));
      const errors = events.filter(
        (event) => event.type === 'session.error' && !event.error.message.includes(RESTARTED),
      );
      if (errors.length > 0) throw new Error(JSON.stringify(errors));
      counts.used++;
    }),
    // The secret before stays valid for a minute, on every node, while the load goes over to the new one.
    repeat(async (turn) => {
      const path = `/v1/fleet/keys/${key.id}/rotate`;
      const { secret } = await fleet.ask(turn, (node) =>
        admin(node).post<{ secret: string }>(path, { body: { overlap_ms: 60_000 } }),
      );
      await expect.poll(() => Promise.all(fleet.alive().map((node) => statusOf(node, secret)))).not.toContain(401);
      for (const node of fleet.alive()) {
        const status = await statusOf(node, key.secret);
        if (status !== 200) throw new Error(`the secret before is answered with ${status}`);
      }
      key.secret = secret;
      counts.keys++;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }),
  ];

  // As docs/vaults.md says: each node can open what the others will encrypt, before any of them does.
  await fleet.restartAll({ masterKey: OLD, olderMasterKeys: NEW });
  await fleet.restartAll({ masterKey: NEW, olderMasterKeys: OLD });
  for (;;) {
    const step = await fleet.ask(0, (node) => admin(node).post<Rotation>('/v1/fleet/secrets/rotate'));
    expect(step.unopened).toBe(0);
    if ((step.keys.find(({ id }) => id === keyIdOfKey(OLD))?.secrets ?? 0) === 0) break;
  }
  await fleet.restartAll({ masterKey: NEW });
  const before = { ...counts };
  await vi.waitFor(
    () => expect(Object.entries(counts).filter(([name, count]) => count <= before[name as 'keys'])).toEqual([]),
    60_000,
  );
  load.isOver = true;
  await Promise.all(working);
  expect(failures.map(String)).toEqual([]);

  const store = await openPostgresStore(fleet.database);
  onTestFinished(() => store.close());
  const [oldSealer, newSealer] = [createSealer(OLD), createSealer(NEW)];
  const { items } = await store.documents.list({ kind: vaultSecrets.kind, order: 'asc', limit: 100 });
  expect(items.length).toBeGreaterThanOrEqual(Math.min(100, VAULTS * CREDENTIALS));
  for (const item of items) {
    const [{ field, names }] = vaultSecrets.fieldsOf(item) as [{ field: string; names: string[] }];
    const sealed = item.data[field] as string;
    expect(keyIdOf(sealed)).toBe(keyIdOfKey(NEW));
    expect(newSealer.open(sealed, names)).toContain('token');
    expect(() => oldSealer.open(sealed, names)).toThrow();
  }
  await expect(fleet.start({ masterKey: OLD })).rejects.toThrow('were sealed with the master key');
});

/** A node that stops gives its sessions to others, which repeat what it was at. */
const RESTARTED = 'the server was restarted during this request';

interface Rotation {
  readonly unopened: number;
  readonly keys: readonly { readonly id: string; readonly secrets: number }[];
}

interface NodeKeys {
  readonly masterKey: Uint8Array;
  readonly olderMasterKeys?: Uint8Array;
}

const toText = (key: Uint8Array) => Buffer.from(key).toString('base64');

function keyIdOfKey(key: Uint8Array): string {
  return createSealer(key).keyId!;
}

async function statusOf({ url }: FleetloomServer, secret: string): Promise<number> {
  return (await fetch(`${url}/v1/vaults`, { headers: { 'x-api-key': secret } })).status;
}

/** Three nodes on one database. Requests go to those that run, and a node that stops ends those that it has. */
async function openNodes(database: TestDatabase) {
  const asked = new Map<FleetloomServer, number>();
  const nodes: FleetloomServer[] = [];
  const open = new Map<string, FleetloomServer>();
  const stopping = new Set<FleetloomServer>();
  const start = async ({ masterKey, olderMasterKeys }: NodeKeys) => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-rotation-node-'));
    const older = olderMasterKeys === undefined ? {} : { olderMasterKeys: toText(olderMasterKeys) };
    const options = { dataDirectory, masterKey: toText(masterKey), ...older, allowedPrivateHosts: ['127.0.0.1'] };
    const store = await openPostgresStore(database);
    onTestFinished(async () => {
      await open.get(dataDirectory)?.close();
      await rm(dataDirectory, { recursive: true, force: true });
    });
    const node = await startOn(options, store, true);
    open.set(dataDirectory, node);
    return node;
  };
  for (let at = 0; at < 3; at++) nodes.push(await start({ masterKey: OLD }));
  const alive = () => nodes.filter((node) => !stopping.has(node));
  return {
    nodes,
    database,
    start,
    alive,
    ask: async <Answer>(turn: number, send: (node: FleetloomServer) => Promise<Answer>): Promise<Answer> => {
      const running = alive();
      const node = running[turn % running.length]!;
      asked.set(node, (asked.get(node) ?? 0) + 1);
      try {
        return await send(node);
      } finally {
        asked.set(node, asked.get(node)! - 1);
      }
    },
    restartAll: async (keys: NodeKeys) => {
      for (const [at, node] of nodes.entries()) {
        stopping.add(node);
        // As a load balancer drains a node.
        await expect.poll(() => asked.get(node) ?? 0).toBe(0);
        await node.close();
        nodes[at] = await start(keys);
      }
    },
  };
}
