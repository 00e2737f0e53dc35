import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** A hostile server. `hostile/` defines what each name does. */
export interface HostileServer {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** The names of each kind: `mcp`, `model`, `hook` and `page`. */
  readonly names: Readonly<Record<'mcp' | 'model' | 'hook' | 'page', readonly string[]>>;
  /** `url('mcp', 'call-drip')`. */
  url(kind: 'mcp' | 'model' | 'hook' | 'page', name: string): string;
  /** Connections that are open now. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** In a process of its own, so that the process under test pays only for what it is sent. */
export async function startHostileServer(): Promise<HostileServer> {
  const script = fileURLToPath(new URL('hostile/server.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const origin = `http://127.0.0.1:${port.toString().trim()}`;
  // Not by fetch, which would keep connections of its own.
  const ask = async (path: string): Promise<unknown> => {
    const [answer] = (await once(get(`${origin}${path}`, { agent: false }), 'response')) as [IncomingMessage];
    return JSON.parse(await text(answer));
  };
  return {
    origin,
    names: (await ask('/names')) as HostileServer['names'],
    url: (kind, name) => `${origin}/${kind}/${name}`,
    connections: async () => ((await ask('/stats')) as { connections: number }).connections,
    close: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
