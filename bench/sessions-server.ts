import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as sendRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '@fleetloom/server';
import { Book, createBenchEngine } from './sessions-fleet.ts';

/** A whole server on a file whose engine answers at once, and clients in a process of their own. */
export interface SessionsServer {
  readonly port: number;
  /** Creates sessions, sends each a message, and resolves when all of them have answered. */
  createAndRun(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Sessions that are created at the same time. */
const CONNECTIONS = 16;

export async function openSessionsServer(): Promise<SessionsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const book = new Book(0, { deltas: 0 });
  const server = await startServer({ dataDirectory: folder, isOpen: true, engine: createBenchEngine(() => book) });
  const { port } = server;
  const tools = [{ type: 'agent_toolset_20260401' }];
  const agent = await create(port, '/v1/agents', { name: 'lead', model: 'bench', tools });
  const environment = await create(port, '/v1/environments', { name: 'here' });
  const clients = fork(join(process.cwd(), 'bench', 'session-creators.mjs'), { stdio: 'inherit', execArgv: [] });
  return {
    port,
    createAndRun: async (count) => {
      const done = nextMessage(clients);
      clients.send({ port, agent, environment, count, connections: CONNECTIONS });
      await done;
    },
    close: async () => {
      clients.kill();
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Creates a record and returns its id. */
async function create(port: number, path: string, body: object): Promise<string> {
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const request = sendRequest({ host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      response.on('end', () => resolve(answer));
    });
    request.on('error', reject).end(JSON.stringify(body));
  });
  return (JSON.parse(text) as { id: string }).id;
}

function nextMessage(clients: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    clients.once('message', (message: { type: string; message?: string }) => {
      if (message.type === 'done') resolve();
      else reject(new Error(message.message));
    });
  });
}
