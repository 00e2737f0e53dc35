import { connect } from 'node:net';

// The other end of the benches of the door, in a process of its own so that its work is not part of the figures. Speaks
// HTTP by hand: what it costs must be little, and the same whoever answers. Told by its parent what to do.

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

/** Opens so many streams, and says so when the headers of all of them are there. */
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
      // The mark may be torn, and nothing but the end of what came can hold it.
      const end = Buffer.concat([tail, chunk.subarray(-LAST_BYTES)]);
      tail = end.subarray(-mark.length);
      if (mark.length === 0 || round === currentRound || !end.includes(mark)) return;
      round = currentRound;
      if (--waiting === 0) process.send({ type: 'done' });
    });
    return socket;
  });
}

/** An event and what is around it. */
const LAST_BYTES = 1_024;
let currentRound = 0;

function beginRound(text) {
  currentRound += 1;
  waiting = sockets.length;
  mark = Buffer.from(text);
  process.send({ type: 'ready' });
}

/** So many requests, as fast as answers come, on so many connections that are kept. */
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
