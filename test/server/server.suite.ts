import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { type FleetloomServer, type ServerOptions, startServer } from '../../packages/server/src/server.ts';

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

/** The official client, which says at once what goes wrong. */
export function connect(url: string, key = 'any'): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
}

/** A system prompt that makes a scripted model play these turns. */
export function toScript(turns: readonly (readonly object[])[]): string {
  return `<script>${JSON.stringify({ turns }).replaceAll('<', '\\u003c')}</script>`;
}
