/** A command that attacks the egress proxy from a sandbox, for so long. The host on `port` is allowed. */
export function floodProxy(port: number, forMs: number): string {
  const text = `const PORT = ${port};\nconst FOR_MS = ${forMs};\n${PROGRAM}`;
  return `echo ${Buffer.from(text).toString('base64')} | base64 -d > flood.mjs && node flood.mjs`;
}

/** Each attack is made at least once, and repeated until the time is over, all of them at the same time. */
const PROGRAM = String.raw`
import { connect } from 'node:net';
const until = Date.now() + FOR_MS;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let reached = 0;
const open = () => {
  const socket = connect(3128, '127.0.0.1');
  socket.on('error', () => {});
  socket.once('data', (chunk) => { if (chunk.toString().startsWith('HTTP/1.1 200')) reached++; });
  return socket;
};
const host = '127.0.0.1:' + PORT;
const get = 'GET http://' + host + '/ HTTP/1.1\r\nHost: ' + host + '\r\n\r\n';
const tunnel = 'CONNECT ' + host + ' HTTP/1.1\r\nHost: ' + host + '\r\n\r\n';
const record = Buffer.from([22, 3, 1, 0, 1, 1]);
const attacks = [
  // Requests without waiting, and gone as soon as the first is answered.
  async () => { const socket = open(); socket.write(get.repeat(64)); await Promise.race([new Promise((resolve) => socket.once('data', resolve)), wait(20_000)]); socket.destroy(); },
  // Gone while the connection is opened or logged.
  async () => { const all = Array.from({ length: 40 }, open); for (const each of all) each.write(Math.random() < 0.5 ? get : tunnel); await wait(Math.random() * 20); for (const each of all) each.destroy(); },
  // The beginning of TLS, byte by byte.
  async () => { const socket = open(); socket.setNoDelay(true); socket.write(tunnel); for (let at = 0; at < 2000 && Date.now() < until; at++) { socket.write(record); if (at % 50 === 0) await wait(1); } socket.destroy(); },
  // Half of what is needed, and half of a connection.
  async () => { const all = Array.from({ length: 100 }, open); for (const each of all) each.write('GET http://' + host); await wait(100); for (const each of all) each.end(); await wait(100); for (const each of all) each.destroy(); },
  // Garbage.
  async () => { for (const text of ['\x16\x03\x01\x02\x00\x01', '\r\n'.repeat(5000), 'CONNECT \r\n\r\n', 'GET http://' + 'a'.repeat(70000) + ' HTTP/1.1\r\n\r\n', 'CONNECT ' + host + ':1:2 HTTP/9.9\r\n\r\n', 'POST http://' + host + '/ HTTP/1.1\r\nHost: ' + host + '\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n', get.replace('Host', 'Host: x\r\nHost'), 'GET http://' + host + '/ HTTP/1.1\r\n' + 'a: b\r\n'.repeat(5000) + '\r\n']) { const socket = open(); socket.end(text); await wait(5); socket.destroy(); } },
];
const repeat = async (attack) => { do await attack(); while (Date.now() < until); };
await Promise.all(attacks.map(repeat));
console.log('reached the host ' + reached + ' times');
process.exit(0);
`;
