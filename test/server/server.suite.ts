import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { type FleetloomServer, type ServerOptions, startOn, startServer } from '../../packages/server/src/server.ts';
import { openPostgresStore } from '../../packages/server/src/store/postgres/postgres-store.ts';
import { testDatabase } from '../support/postgres.ts';

/** A whole server with a directory of its own, and the official client. */
export interface TestServer {
  readonly server: FleetloomServer;
  readonly url: string;
  readonly key: string;
  readonly client: Anthropic;
  readonly directory: string;
  /** Closes it and starts another one on what it has left. */
  readonly restart: () => Promise<TestServer>;
}

/** Runs with a server on loopback that asks for keys, and closes it whatever happens. */
export async function withServer(
  run: (test: TestServer) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-server-'));
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => problems.push(problem);
  const open = new Set<FleetloomServer>();

  const start = async (known?: string): Promise<TestServer> => {
    const server = await startServer({ dataDirectory: directory, onProblem, ...options });
    open.add(server);
    const key = known ?? server.firstKey ?? 'any';
    const client = connect(server.url, key);
    const restart = async () => {
      await server.close();
      open.delete(server);
      return start(key);
    };
    return { server, url: server.url, key, client, directory, restart };
  };

  try {
    await run(await start());
  } finally {
    for (const server of open) await server.close();
    await rm(directory, { recursive: true, force: true });
  }
  if (problems.length > 0) throw new AggregateError(problems, 'the server reported problems in the background');
}

/** Runs with three nodes on one database, of which each request of the client goes to the next one. They are not restarted. */
export async function withNodes(
  run: (test: Omit<TestServer, 'restart'>) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-nodes-'));
  const database = await testDatabase();
  const problems: unknown[] = [];
  const masterKey = Buffer.alloc(32, 7).toString('base64');
  const nodes: FleetloomServer[] = [];
  try {
    for (const name of ['one-', 'two-', 'three-']) {
      const own = { dataDirectory: await mkdtemp(join(directory, name)), masterKey };
      const onProblem = (problem: unknown) => problems.push(problem);
      nodes.push(await startOn({ onProblem, ...own, ...options }, await openPostgresStore(database), true));
    }
    const [server] = nodes as [FleetloomServer];
    let next = 0;
    const toNextNode: typeof fetch = (request, init) => {
      const { pathname, search } = new URL(request instanceof Request ? request.url : request);
      return fetch(`${nodes[next++ % nodes.length]!.url}${pathname}${search}`, init);
    };
    const key = server.firstKey ?? 'any';
    const client = new Anthropic({ baseURL: server.url, apiKey: key, maxRetries: 0, fetch: toNextNode });
    await run({ server, url: server.url, key, client, directory });
  } finally {
    for (const node of nodes) await node.close();
    await rm(directory, { recursive: true, force: true });
  }
  if (problems.length > 0) throw new AggregateError(problems, 'a node reported problems in the background');
}

/** The official client, which says at once what goes wrong. */
export function connect(url: string, key = 'any'): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
}

/** A system prompt that makes a scripted model play these turns. */
export function toScript(turns: readonly (readonly object[])[]): string {
  return `<script>${JSON.stringify({ turns }).replaceAll('<', '\\u003c')}</script>`;
}
