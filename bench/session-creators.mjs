import { connect } from 'node:net';

// The clients of the bench that creates and runs sessions, in a process of their own so that their work is not part of the figures.
// Written on raw sockets, so that they cost little. The parent process sends one command.

process.on('message', (/** @type {any} */ message) => {
  void createAll(message).then(
    () => process.send({ type: 'done' }),
    (error) => process.send({ type: 'failed', message: String(error) }),
  );
});

/** Creates this many sessions and sends each a message, on some connections at the same time; waits until all are idle. */
async function createAll({ port, agent, environment, count, connections }) {
  let left = count;
  const socket = await open(port);
  const before = await countDone(socket);
  const all = Array.from({ length: connections }, async () => {
    const own = await open(port);
    while (left-- > 0) await createOne(own, { agent, environment });
    own.destroy();
  });
  await Promise.all(all);
  while ((await countDone(socket)) < before + count) await pause();
  socket.destroy();
}

async function countDone(socket) {
  const { facets } = await ask(socket, 'GET', '/v1/fleet/sessions?limit=1');
  return facets.states.done;
}

async function createOne(socket, { agent, environment }) {
  const { id } = await ask(socket, 'POST', '/v1/sessions', { agent, environment_id: environment });
  const content = [{ type: 'text', text: 'Begin.' }];
  await ask(socket, 'POST', `/v1/sessions/${id}/events`, { events: [{ type: 'user.message', content }] });
}

function open(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.setEncoding('utf8').once('error', reject);
  });
}

/** Sends a request and resolves with the JSON of its response. */
function ask(socket, method, path, body) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${text.length}`;
  return new Promise((resolve, reject) => {
    let seen = '';
    const onData = (chunk) => {
      seen += chunk;
      const end = seen.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(seen)?.[1];
      if (end === -1 || length === undefined || Buffer.byteLength(seen) < end + 4 + Number(length)) return;
      socket.off('data', onData);
      if (seen.startsWith('HTTP/1.1 200 ')) resolve(JSON.parse(seen.slice(end + 4)));
      // The server is overloaded, as on a busy machine: like any client, this one retries.
      else if (seen.startsWith('HTTP/1.1 529 ')) resolve(pause().then(() => ask(socket, method, path, body)));
      else reject(new Error(seen));
    };
    socket.on('data', onData);
    socket.write(`${head}\r\n\r\n${text}`);
  });
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
