import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** How often the target, a PostgreSQL, has reported that it is ready for the next query: once for each statement of its own. */
  readonly statements: number;
  /** Closes all connections, and rejects new ones. */
  cut(): void;
  /** Keeps connections open and forwards nothing, like an unplugged cable. */
  freeze(): void;
  heal(): void;
  close(): Promise<void>;
}

/** A proxy between two programs that a test can interrupt. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let state: 'whole' | 'cut' | 'frozen' = 'whole';
  let statements = 0;
  const server = createServer((client) => {
    keep(client);
    if (state === 'cut') return void client.destroy();
    const upstream = connect({ ...target, noDelay: true });
    keep(upstream);
    client.setNoDelay(true);
    link(client, upstream);
    link(upstream, client);
    upstream.on('data', (bytes: Buffer) => {
      for (let at = bytes.indexOf(READY); at !== -1; at = bytes.indexOf(READY, at + READY.length)) statements += 1;
    });
    if (state === 'frozen') for (const each of [client, upstream]) each.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    get statements() {
      return statements;
    },
    cut: () => {
      state = 'cut';
      for (const socket of open) socket.destroy();
    },
    freeze: () => {
      state = 'frozen';
      for (const socket of open) socket.pause();
    },
    heal: () => {
      // Frozen connections are closed, so that both programs notice.
      if (state === 'frozen') for (const socket of open) socket.destroy();
      state = 'whole';
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };

  function keep(socket: Socket): void {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  }

  function link(from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => state !== 'frozen' && from.resume());
    from.on('end', () => to.end());
    from.on('close', () => to.destroy());
  }
}

/** The message ReadyForQuery: its type and its length. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);
