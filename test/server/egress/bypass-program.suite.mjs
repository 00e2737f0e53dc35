// Runs in a sandbox: makes the attempts of a file, up to 12 at a time, and prints what each of them has received.
import { exec } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver, lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

const PATIENCE_MS = 2_500;
const ways = {
  tcp: ({ host, port }) => talk(connect({ host, port }), 'MARK'),
  unix: ({ path }) => talk(connect({ path }), 'MARK'),
  udp: ({ host, port, data }) =>
    new Promise((resolve) => {
      const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
      const finish = (text) => (socket.close(), resolve(text));
      socket.on('error', (error) => finish(`failed: ${error.code}`)).on('message', (bytes) => finish(bytes.toString()));
      socket.send(Buffer.from(data, 'latin1'), port, host, (error) => error && finish(`failed: ${error.code}`));
      setTimeout(() => resolve(''), 300);
    }),
  dns: async ({ server, name }) => {
    if (server === undefined) return JSON.stringify(await lookup(name));
    const resolver = new Resolver({ timeout: 300, tries: 1 });
    resolver.setServers([server]);
    return JSON.stringify(await resolver.resolve4(name));
  },
  proxy: async ({ text, behind }) => await talk(connect(3128, '127.0.0.1'), text, behind),
  tls: async ({ to, servername, text }) => {
    const socket = connect(3128, '127.0.0.1');
    const head = await new Promise((resolve) => {
      socket.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`);
      socket.once('data', (bytes) => resolve(bytes.toString())).once('close', () => resolve('closed'));
    });
    if (!head.startsWith('HTTP/1.1 200')) return head;
    return await talk(connectTls({ socket, servername, rejectUnauthorized: false }), text);
  },
  shell: ({ command }) =>
    new Promise((resolve) => {
      exec(command, { timeout: 8_000, shell: 'bash' }, (_, out, problems) => resolve(`${out}${problems}`));
    }),
};

const waiting = Object.entries(JSON.parse(readFileSync(process.argv[2], 'utf8')));
process.on('uncaughtException', () => undefined);
await Promise.all(
  Array.from({ length: 12 }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, attempt] = next;
      const received = await ways[attempt.kind](attempt).catch((error) => `failed: ${error.code ?? error.message}`);
      console.log(JSON.stringify({ name, received: received.slice(0, 400) }));
    }
  }),
);
process.exit();

/** Sends a text, and another one when a tunnel is open. Resolves with what has come until the end, or until nothing more comes. */
function talk(socket, text, behind) {
  return new Promise((resolve) => {
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      if (behind !== undefined && received.startsWith('HTTP/1.1 200 Connection')) socket.write(behind, 'latin1');
      behind = undefined;
    });
    socket.on('error', (error) => (received += `failed: ${error.code}`));
    socket.on('close', () => resolve(received));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.write(text, 'latin1');
  });
}
