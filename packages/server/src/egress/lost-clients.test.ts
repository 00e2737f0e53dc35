import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { egressLimits } from './limits.ts';
import { limited, openEgressBench, openTcpOrigin, sendRaw } from './egress.suite.ts';

// Clients that are gone before they are answered. What was opened for them must not stay open.

/** A host that never ends its answers; the connections to it. */
async function openEndlessOrigin() {
  const sockets = new Set<Socket>();
  const port = await openTcpOrigin((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(200_000)}`));
  });
  return { port, sockets };
}

function createGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

const plain = 'GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n';

it('[U600] requests that a client sent without waiting end with its connection: their connections are closed, and they no longer count', async () => {
  const { port, sockets } = await openEndlessOrigin();
  const bench = await openEgressBench({ ports: { 'a.example:80': port } });
  // The second time there is room for all of them again.
  for (let round = 1; round <= 2; round++) {
    const client = connect({ path: bench.socketPath });
    client.write(plain.repeat(egressLimits.connectionsMax));
    await expect.poll(() => sockets.size).toBe(egressLimits.connectionsMax);
    client.destroy();
    await expect.poll(() => sockets.size).toBe(0);
    const closed = () => bench.entries.filter(({ outcome }) => outcome === 'closed').length;
    await expect.poll(closed).toBe(round * egressLimits.connectionsMax);
  }
  expect(bench.problems).toEqual([]);
});

/** A log that is slow to write that a connection was opened; `asked` and `closed` count its entries. */
function createSlowLog() {
  const gate = createGate();
  const count = { asked: 0, closed: 0 };
  const open = async () => {
    count.asked++;
    await gate.opened;
    return { close: () => void count.closed++ };
  };
  return { log: { open, refuse: () => undefined }, count, write: gate.open };
}

it('[U601] the connection to a host is closed when the client leaves while it is logged, and so is its entry', async () => {
  const { port, sockets } = await openEndlessOrigin();
  for (const text of [plain, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n', 'CONNECT a.example:7000 HTTP/1.1\r\n\r\n']) {
    const { log, count, write } = createSlowLog();
    const ports = { 'a.example:80': port, 'a.example:443': port, 'a.example:7000': port };
    const bench = await openEgressBench({ networking: limited('a.example', 'a.example:7000'), ports, more: { log } });
    const client = connect({ path: bench.socketPath });
    client.write(text);
    await expect.poll(() => count.asked).toBe(1);
    client.destroy();
    await new Promise((resolve) => client.once('close', resolve));
    write();
    await expect.poll(() => [text, sockets.size, count.closed]).toEqual([text, 0, 1]);
    expect(bench.problems).toEqual([]);
    await bench.close();
  }
});

it('[U601] a host that closes while the connection is logged is answered with 502, and the entry is closed', async () => {
  const { port, sockets } = await openEndlessOrigin();
  const { log, count, write } = createSlowLog();
  const fars: Socket[] = [];
  const dial = () => fars[fars.push(connect(port, '127.0.0.1')) - 1]!;
  const bench = await openEgressBench({ more: { log, dial } });
  const answers = [plain, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n'].map((text) => sendRaw(bench, text));
  await expect.poll(() => [count.asked, sockets.size]).toEqual([2, 2]);
  for (const socket of sockets) socket.resetAndDestroy();
  await expect.poll(() => fars.every(({ destroyed }) => destroyed)).toBe(true);
  write();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([502, 502]);
  expect(count.closed).toBe(2);
});
