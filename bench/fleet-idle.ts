import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore, startServer } from '@fleetloom/server';
// Not exported by the package, so this imports it by path.
import { addManySessions } from '../packages/server/src/views/sessions/many-sessions.suite.ts';

/** A server with many sessions in which nothing happens, and readers of `/v1/fleet`. */
export interface IdleFleet {
  readonly port: number;
  /** Opens more readers, and resolves when each has received its first bytes. */
  addReaders(count: number): Promise<void>;
  /** CPU milliseconds of this process in each second while nothing happens. */
  measure(seconds: number): Promise<number>;
  close(): Promise<void>;
}

export async function openIdleFleet(sessions: number): Promise<IdleFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const store = await openSqliteStore({ path: join(folder, 'fleetloom.db') });
  await addManySessions(store, { workspaceId: 'wrkspc_default', count: sessions, now: Date.now() });
  await store.close();
  const server = await startServer({ dataDirectory: folder, isOpen: true });
  const readers: IncomingMessage[] = [];
  return {
    port: server.port,
    addReaders: async (count) => {
      const opened = await Promise.all(Array.from({ length: count }, () => openReader(server.port)));
      readers.push(...opened);
    },
    measure: async (seconds) => {
      const before = process.cpuUsage();
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000 / seconds;
    },
    close: async () => {
      for (const reader of readers) reader.destroy();
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function openReader(port: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: '/v1/fleet', agent: false }, (response) => {
      response.on('error', () => {});
      response.once('data', () => resolve(response)).resume();
    });
    request.on('error', reject);
  });
}
