import { connect, type Socket } from 'node:net';
import { forEachAtOnce } from './run-session.ts';
import type { Victim } from './victim.ts';

/** Idle connections of a stranger: no request, no key. Resolves with how to end them, when no more are accepted or all are open. */
export async function openIdleConnections(
  { port }: Victim,
  count: number,
): Promise<{ readonly open: number; end(): void }> {
  const sockets: Socket[] = [];
  let open = 0;
  for (let made = 0; made < count; made++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.once('connect', () => (open += 1));
    sockets.push(socket);
    if (made % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  return {
    open,
    end: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Bytes that are not HTTP, or not quite. Resolves when all were sent and every connection has ended. */
export async function sendGarbage({ port }: Victim, count: number): Promise<void> {
  const pieces = Array.from({ length: count }, (_, index) => garbage[index % garbage.length]!);
  // Several at once: to some of it the server answers nothing until the connection is closed.
  await forEachAtOnce(
    pieces,
    8,
    (piece) =>
      new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(piece));
        const timer = setTimeout(() => socket.destroy(), 300);
        socket.on('error', () => undefined).resume();
        socket.on('close', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  );
}

const garbage: readonly (string | Buffer)[] = [
  '\0\0\0\0',
  Buffer.from('16030100f5010000f1', 'hex'),
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/9.9\r\nhost: x\r\n\r\n',
  `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`,
  'GET http://169.254.169.254/latest HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
  'CONNECT example.com:443 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
  'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  'POST /v1/agents HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /v1/agents HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n',
  'POST /v1/files HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: 100-continue\r\ncontent-length: 99999999999\r\n\r\n',
  'GET /%00%ff%zz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
  'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n'.padEnd(20_000, 'a: b\r\n'),
  'DELETE /v1/sessions/x HTTP/1.0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n'.repeat(50),
];
