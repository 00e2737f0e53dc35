import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A server with all of its events on disk, and the request that reads them from the first to the last. */
export interface CatchUpServer {
  /** Reads all events, and resolves with the bytes of the response when it has ended. */
  read(): Promise<number>;
  close(): Promise<void>;
}

/** The peer, installed outside of the repository's own packages, for this bench only: its store needs a native database. */
const PEER = '@durable-streams/server@0.3.7';

/** Opens the peer with these events, each a JSON text, in one stream on disk. */
export async function openPeer(events: readonly string[]): Promise<CatchUpServer> {
  const { DurableStreamTestServer } = (await import(installPeer())) as PeerModule;
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  // The peer logs every slow append to standard output, which is for the figures.
  console.info = () => {};
  const server = new DurableStreamTestServer({ port: 0, host: '127.0.0.1', dataDir: folder, compression: false });
  await server.start();
  const url = new URL('/v1/stream/bench', server.url);
  const headers = { 'content-type': 'application/json' };
  await fetch(url, { method: 'PUT', headers });
  for (let at = 0; at < events.length; at += EVENTS_AT_ONCE) {
    const body = `[${events.slice(at, at + EVENTS_AT_ONCE).join(',')}]`;
    const response = await fetch(url, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`the peer answers with ${response.status}`);
  }
  return {
    read: () => drain(Number(url.port), `${url.pathname}?offset=-1`),
    close: async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

const EVENTS_AT_ONCE = 1_000;

interface PeerModule {
  DurableStreamTestServer: new (
    options: object,
  ) => { readonly url: string; start(): Promise<unknown>; stop(): Promise<unknown> };
}

/** The path of the peer's module, which is installed if it is missing. */
function installPeer(): string {
  const folder = join(process.cwd(), '.cache', 'peers');
  const entry = join(folder, 'node_modules', '@durable-streams', 'server', 'dist', 'index.js');
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', PEER], {
      cwd: folder,
      stdio: 'ignore',
    });
  }
  return pathToFileURL(entry).href;
}

/** Sends a GET and counts the bytes until the connection is closed: a client that costs the same for every server. */
export function drain(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
    socket.on('error', reject);
    socket.on('close', () => resolve(bytes));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
  });
}
