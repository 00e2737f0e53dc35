import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { RELAY_PORT, TERMINATE, toDialOrder, toRelay } from './relay.ts';

it('[J213] standard streams and the exit code of the program pass through untouched', async () => {
  const code = `process.stdin.on('data', (bytes) => process.stdout.write(bytes)).on('end', () => {
    process.stderr.write('complaint'); process.exitCode = 7; })`;
  const { child } = await startRelay(code);
  const bytes = Buffer.from([0, 255, 10, 13, 200]);
  child.stdin.end(bytes);
  const [out, complaint] = await Promise.all([readBytes(child.stdout), text(child.stderr)]);
  expect([out.equals(bytes), complaint]).toEqual([true, 'complaint']);
  expect(await ended(child)).toBe(7);
});

it('[J213] the order to end, and signals, reach the program; a signal that ends it is reported by its number', async () => {
  const code = `for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => console.log(name));
    console.log('up'); setInterval(() => {}, 1000)`;
  const { child } = await startRelay(code);
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => (said += String(bytes)));
  await vi.waitFor(() => expect(said).toBe('up\n'), 20_000);
  (child.stdio[3] as Writable).write(TERMINATE);
  await vi.waitFor(() => expect(said).toBe('up\nSIGTERM\n'), 20_000);
  child.kill('SIGINT');
  await vi.waitFor(() => expect(said).toBe('up\nSIGTERM\nSIGINT\n'), 20_000);
  child.kill('SIGHUP');
  await vi.waitFor(() => expect(said).toBe('up\nSIGTERM\nSIGINT\nSIGHUP\n'), 20_000);
  // The server is gone: nothing is left to be said.
  child.stdio[3]?.destroy();
  expect(await ended(child)).toBe(128 + 9);
});

it('[J213] connections inside are handed to the socket, both ways, as long as either side speaks', async () => {
  const { child, port } = await startRelay('setInterval(() => {}, 1000)', (server) =>
    server.on('connection', (socket) => {
      const pieces: Buffer[] = [];
      socket.on('error', () => undefined);
      socket.on('data', (piece: Buffer) => pieces.push(piece));
      // The answer comes after the other side has said everything.
      socket.on('end', () => setTimeout(() => socket.end(`got ${Buffer.concat(pieces).length}`), 50));
    }),
  );
  const answers = await Promise.all(
    [1, 65_536, 3_000_000].map(async (length) => {
      const socket = await connectWhenUp(port);
      socket.end(Buffer.alloc(length));
      return String(await readBytes(socket));
    }),
  );
  expect(answers).toEqual(['got 1', 'got 65536', 'got 3000000']);
  child.kill('SIGKILL');
});

it('[J213] bytes of one side reach the other completely, also if that one reads slowly', async () => {
  const bytes = 24 * 1024 * 1024;
  const { child, port } = await startRelay('setInterval(() => {}, 1000)', (server) =>
    server.on('connection', (socket) => socket.on('error', () => undefined).end(Buffer.alloc(bytes))),
  );
  const socket = await connectWhenUp(port);
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await readBytes(socket)).length).toBe(bytes);
  socket.destroy();
  child.kill('SIGKILL');
});

it('[CX20] a program that expects blocking streams loses nothing of its output, also after a connection and to a slow reader', async () => {
  // `writeSync` throws where the output is non-blocking and full, as the runtimes of other languages do.
  const code = `const { writeSync } = require('node:fs');
    process.stdin.once('data', () => {
      for (let left = 3_000_000; left > 0; ) left -= writeSync(1, Buffer.alloc(Math.min(left, 65_536)));
      process.exit(0);
    });`;
  const { child, port } = await startRelay(code, (server) =>
    server.on('connection', (socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end('bye'),
    ),
  );
  const socket = await connectWhenUp(port);
  socket.end('hello');
  expect(String(await readBytes(socket))).toBe('bye');
  child.stdin.write('now');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const [out, complaint] = await Promise.all([readBytes(child.stdout), text(child.stderr)]);
  expect([out.length, complaint]).toEqual([3_000_000, '']);
  expect(await ended(child)).toBe(0);
});

it('[OC27] the order to dial connects a port inside to the socket that it names, and the order to end still ends the program', async () => {
  const inside = await findPort();
  const code = `require('node:net').createServer((socket) => socket.end('from inside')).listen(${inside}, '127.0.0.1', () => console.log('up'));`;
  const arrived: Promise<Buffer>[] = [];
  const { child, socketPath } = await startRelay(code, (server) =>
    server.on('connection', (socket) => {
      socket.on('error', () => undefined);
      arrived.push(readBytes(socket));
      socket.end();
    }),
  );
  await once(child.stdout, 'data');
  const orders = child.stdio[3] as Writable;
  // An order may arrive in pieces, and with others.
  orders.write(toDialOrder(inside, socketPath).slice(0, 7));
  await new Promise((resolve) => setTimeout(resolve, 50));
  orders.write(toDialOrder(inside, socketPath).slice(7) + toDialOrder(inside, socketPath));
  await vi.waitFor(() => expect(arrived).toHaveLength(2), 20_000);
  expect((await Promise.all(arrived)).map(String)).toEqual(['from inside', 'from inside']);
  orders.write(TERMINATE);
  expect(await ended(child)).toBe(128 + 15);
});

it('[J213] a program that cannot be started, and a port that is taken, are an end with the reason', async () => {
  const missing = await startRelay('', undefined, '/nowhere/claude');
  expect(await text(missing.child.stderr)).toMatch(/nowhere\/claude cannot be started: .*ENOENT/);
  expect(await ended(missing.child)).toBe(1);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const refused = await startRelay('', undefined, process.execPath, port);
  expect(await text(refused.child.stderr)).toMatch(/relay of the sandbox cannot listen: .*EADDRINUSE/);
});

it('[J213] is text that stands alone, on a port of its own', () => {
  const { args } = toRelay({ node: 'node', socketPath: '/s', program: '/p', args: ['-x'] });
  expect(args.slice(-4)).toEqual(['/s', String(RELAY_PORT), '/p', '-x']);
  const code = args[args.indexOf('-e') + 1]!;
  expect(code).not.toMatch(/\bimport\b|__vi|__vite|require\(/);
});

async function startRelay(
  code: string,
  serve: (server: Server) => void = () => {},
  program = process.execPath,
  given?: number,
) {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-relay-'));
  const socketPath = join(folder, 'gateway.sock');
  const server = createServer({ allowHalfOpen: true }).listen(socketPath);
  await once(server, 'listening');
  serve(server);
  const port = given ?? (await findPort());
  const relay = toRelay({ node: process.execPath, socketPath, program, args: ['-e', code], port });
  const child = spawn(relay.program, relay.args, { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], detached: true });
  child.on('error', () => undefined);
  for (const pipe of child.stdio) pipe?.on('error', () => undefined);
  onTestFinished(async () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It has ended.
    }
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { child, port, socketPath };
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function connectWhenUp(port: number) {
  return await vi.waitFor(async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  }, 20_000);
}

async function readBytes(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
