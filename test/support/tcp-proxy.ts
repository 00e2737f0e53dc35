import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Breaks all connections, and lets no new one through. */
  cut(): void;
  /** Leaves connections as they are and lets nothing through any more: as a cable that is pulled. */
  freeze(): void;
  heal(): void;
  close(): Promise<void>;
}

/** Stands between two programs, until a test cuts them off from each other. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const open = new Set<Socket>();
  let state: 'whole' | 'cut' | 'frozen' = 'whole';
  const server = createServer((client) => {
    keep(client);
    if (state === 'cut') return void client.destroy();
    const upstream = connect({ ...target, noDelay: true });
    keep(upstream);
    client.setNoDelay(true);
    link(client, upstream);
    link(upstream, client);
    if (state === 'frozen') for (const each of [client, upstream]) each.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      state = 'cut';
      for (const socket of open) socket.destroy();
    },
    freeze: () => {
      state = 'frozen';
      for (const socket of open) socket.pause();
    },
    heal: () => {
      // Whoever was frozen has to find out that its connection is of no use any more.
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
