import { rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { toDialOrder } from '../../launch/relay.ts';
import { ignoringFailure } from '../../../../base/in-background.ts';

/** Connections into a sandbox without a network. */
export interface Dialer {
  /** The socket on which the connections arrive. The sandbox must show it. */
  readonly socketPath: string;
  /** Opens a connection to the port inside, on which a program listens. `order` writes to the relay inside. */
  connect(order: (line: string) => void): Promise<Socket>;
  close(): void;
}

/** Options of a dialer. */
export interface DialerOptions {
  readonly socketPath: string;
  readonly port: number;
}

/**
 * Reaches a program that listens on loopback in a sandbox: the relay inside connects on order, and its connection arrives on a
 * socket of this process. A socket that is created inside would be unsafe: an agent could replace it with a link to a socket of
 * the machine, and this server would connect to that socket.
 */
export async function openDialer({ socketPath, port }: DialerOptions): Promise<Dialer> {
  const waiting: { resolve: (socket: Socket) => void; reject: (error: Error) => void }[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    const next = waiting.shift();
    if (next === undefined) socket.destroy();
    else next.resolve(socket);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, socketPath);
  return {
    socketPath,
    connect: (order) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        order(toDialOrder(port, socketPath));
      }),
    close: () => {
      server.close();
      for (const { reject } of waiting.splice(0)) reject(new Error('the program has ended'));
      ignoringFailure(rm(socketPath, { force: true }));
    },
  };
}

/** Enough for the stream of events and concurrent requests. */
const CONNECTIONS_MAX = 32;

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}
