import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';
import { bash, createFleet, done, write } from './isolation.suite.ts';
import { framesOf, waitIdle } from './snapshots.suite.ts';
import { startOn, type ServerOptions } from '../../../packages/server/src/server.ts';
import { connect, type TestServer } from '../server.suite.ts';
import { SNAPSHOT_BACKUP } from '../../../packages/server/src/workspaces/snapshots/snapshot-backups.ts';
import { openPostgresStore } from '../../../packages/server/src/store/postgres/postgres-store.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

vi.setConfig({ testTimeout: 120_000 });

/** A node with a disk of its own, which can be closed. */
interface Node extends Omit<TestServer, 'restart' | 'server'> {
  readonly close: () => Promise<void>;
}

/** Starts nodes on a database of their own. */
async function openNodes(user: UserRepository, options: Partial<ServerOptions> = {}) {
  const database = await testDatabase();
  let key: string | undefined;
  const start = async (known?: string): Promise<Node> => {
    const directory = known ?? (await mkdtemp(join(tmpdir(), 'fleetloom-node-')));
    const allowed = { allowedDirectories: [user.root], allowUnsandboxedBash: true };
    const store = await openPostgresStore(database);
    const server = await startOn({ dataDirectory: directory, ...allowed, ...options }, store, true);
    key ??= server.firstKey;
    let isOpen = true;
    const close = async () => {
      if (isOpen) await server.close();
      isOpen = false;
    };
    onTestFinished(async () => {
      await close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    });
    return { url: server.url, key: key!, client: connect(server.url, key), directory, close };
  };
  return { start, database };
}

async function send({ client }: Pick<Node, 'client'>, id: string): Promise<void> {
  await client.beta.sessions.events.send(id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
  });
}

const results = async (node: Node, id: string) =>
  (await framesOf(node, id)).filter(({ type }) => type === 'agent.tool_result').length;

it('[WS340] a session on a worktree runs on the node that has it, whichever node gets the message, and waits while that node is away', () =>
  withRepository(async (user) => {
    const { start } = await openNodes(user);
    const [one, two] = [await start(), await start()];
    const script = [[write('a.txt', 'a\n')], done, [bash('cat a.txt > b.txt')], done];
    const id = await createFleet(one, { agents: { idle: [done] }, script, resource: { path: user.path } });
    await send(two, id);
    await expect.poll(() => results(two, id), { timeout: 30_000 }).toBe(1);
    await waitIdle(two, id);
    expect([one, two].map(({ directory }) => existsSync(join(directory, 'workspaces', id)))).toEqual([true, false]);
    await one.close();
    await send(two, id);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await results(two, id)).toBe(1);
    const again = await start(one.directory);
    await expect.poll(() => results(again, id), { timeout: 60_000 }).toBe(2);
    expect(readFileSync(join(one.directory, 'workspaces', id, 'b.txt'), 'utf8')).toBe('a\n');
  }));

it('[WS341] with shared workspaces a session on a worktree moves to another node, with its files and its snapshots', () =>
  withRepository(async (user) => {
    const shared = await mkdtemp(join(tmpdir(), 'fleetloom-shared-'));
    onTestFinished(() => rm(shared, { recursive: true, force: true, maxRetries: 5 }));
    const { start } = await openNodes(user, { sharedWorkspaces: shared });
    const [one, two] = [await start(), await start()];
    const script = [[write('a.txt', 'a\n')], done, [bash('cat a.txt > b.txt')], done];
    const id = await createFleet(one, { agents: { idle: [done] }, script, resource: { path: user.path } });
    await send(one, id);
    await expect.poll(() => results(one, id), { timeout: 30_000 }).toBe(1);
    await waitIdle(one, id);
    await one.close();
    await send(two, id);
    await expect.poll(() => results(two, id), { timeout: 60_000 }).toBe(2);
    await waitIdle(two, id);
    expect(readFileSync(join(shared, id, 'b.txt'), 'utf8')).toBe('a\n');
    const frames = await framesOf(two, id);
    const [first, second] = frames.filter((frame) => frame.type === 'workspace.changed');
    expect([second!.payload.parent, second!.payload.files.map(({ path }) => path)]).toEqual([
      first!.payload.tree,
      ['b.txt'],
    ]);
    expect(frames.filter(({ type }) => type === 'workspace.opened')).toHaveLength(1);
  }));

it('[WS342] a fork that another node gets is made on the node that has the workspace, with the files of its cursor', () =>
  withRepository(async (user) => {
    const { start } = await openNodes(user);
    const [one, two] = [await start(), await start()];
    const script = [[write('a.txt', 'first\n')], done, [bash('cat a.txt > copy.txt')], done];
    const id = await createFleet(one, { agents: { idle: [done] }, script, resource: { path: user.path } });
    await send(one, id);
    await expect.poll(() => results(one, id), { timeout: 30_000 }).toBe(1);
    await waitIdle(one, id);
    const response = await fetch(`${two.url}/v1/sessions/${id}/fork`, {
      method: 'POST',
      headers: { 'x-api-key': two.key, 'content-type': 'application/json' },
      body: '{}',
    });
    const fork = (await response.json()) as { id: string };
    expect([response.status, fork.id]).toEqual([200, expect.stringMatching(/^sesn_/)]);
    await send(two, fork.id);
    await expect.poll(() => results(two, fork.id), { timeout: 60_000 }).toBe(2);
    await waitIdle(two, fork.id);
    expect(readFileSync(join(one.directory, 'workspaces', fork.id, 'copy.txt'), 'utf8')).toBe('first\n');
    expect(existsSync(join(two.directory, 'workspaces', fork.id))).toBe(false);
  }));

it('[WS343] a session whose node is lost says so; on another node its repositories are cloned again with the files of its last snapshot, and its record begins again', () =>
  withRepository(async (user) => {
    const { start, database } = await openNodes(user, { homeGoneMs: 8_000 });
    const [one, two] = [await start(), await start()];
    const script = [
      [write('project/a.txt', 'a\n')],
      done,
      [bash('cat project/a.txt > /workspace/list.txt; git -C project status --short >> list.txt')],
      done,
    ];
    const resources = [{ type: 'git_repository', url: `file://${user.path}` }];
    const id = await createFleet(one, { agents: { idle: [done] }, script, resource: null, resources });
    await send(one, id);
    await expect.poll(() => results(one, id), { timeout: 30_000 }).toBe(1);
    await waitIdle(one, id);
    await one.close();
    await rm(one.directory, { recursive: true, force: true });
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    await send(two, id);
    await expect.poll(() => results(two, id), { timeout: 60_000 }).toBe(2);
    await waitIdle(two, id);
    const frames = await framesOf(two, id);
    const lost = frames.find(({ type }) => type === 'workspace.lost')!;
    expect(frames.filter(({ type }) => type === 'workspace.opened').map(({ seq }) => seq > lost.seq)).toEqual([
      false,
      true,
    ]);
    const errors = frames.flatMap(({ type, payload }) => (type === 'session.error' ? [payload.error.reason] : []));
    expect(errors).toEqual(['workspace_lost']);
    expect(readFileSync(join(two.directory, 'workspaces', id, 'list.txt'), 'utf8')).toBe('a\n?? a.txt\n');
    await two.client.beta.sessions.delete(id);
    const store = await openPostgresStore(database);
    onTestFinished(() => store.close());
    const left = async () =>
      (await store.documents.list({ kind: SNAPSHOT_BACKUP, limit: 10 })).items.map((each) => each.id);
    await expect.poll(left, { timeout: 20_000 }).not.toContain(id);
  }));
