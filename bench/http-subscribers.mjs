import { connect } from 'node:net';

// The clients of the HTTP benches, in a separate process so that their work is not part of the figures. Written on raw sockets,
// so that their cost is small and the same for every server. The parent process sends commands.

/** @type {import('node:net').Socket[]} */
let sockets = [];
/** Sockets that have not seen the end of the round. */
let waiting = 0;
let mark = Buffer.from('');

process.on('message', (/** @type {any} */ message) => {
  if (message.type === 'subscribe') subscribe(message);
  else if (message.type === 'round') beginRound(message.mark);
  else if (message.type === 'ask') ask(message);
  else if (message.type === 'leave') leave();
});

/** Opens this many streams, and reports when all have received their headers. */
function subscribe({ port, path, count }) {
  let opening = count;
  sockets = Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1');
    let isOpen = false;
    let tail = Buffer.alloc(0);
    let round = -1;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      if (!isOpen) {
        isOpen = true;
        if (--opening === 0) process.send({ type: 'open' });
      }
      // The mark may be split between chunks; only the last bytes can contain it.
      const end = Buffer.concat([tail, chunk.subarray(-LAST_BYTES)]);
      tail = end.subarray(-mark.length);
      if (mark.length === 0 || round === currentRound || !end.includes(mark)) return;
      round = currentRound;
      if (--waiting === 0) process.send({ type: 'done' });
    });
    return socket;
  });
}

/** The length of an event with its framing. */
const LAST_BYTES = 1_024;
let currentRound = 0;

function beginRound(text) {
  currentRound += 1;
  waiting = sockets.length;
  mark = Buffer.from(text);
  process.send({ type: 'ready' });
}

/** Sends this many requests, each after the previous answer, on keep-alive connections. */
function ask({ port, path, count, connections }) {
  let left = count;
  let open = count;
  for (let index = 0; index < connections; index++) {
    const socket = connect(port, '127.0.0.1');
    const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
    let seen = '';
    const next = () => {
      if (left-- > 0) socket.write(request);
      else socket.destroy();
    };
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1');
      const head = seen.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(seen)?.[1];
      if (head === -1 || length === undefined || seen.length < head + 4 + Number(length)) return;
      if (!seen.startsWith('HTTP/1.1 200 ')) throw new Error(seen);
      seen = '';
      if (--open === 0) process.send({ type: 'done' });
      next();
    });
    socket.on('connect', next);
  }
}

function leave() {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  process.send({ type: 'left' });
}
