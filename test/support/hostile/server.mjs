// A server that answers as badly as it can, in a process of its own, so that what it does costs the process under test
// nothing but what it sends. `/mcp/NAME`, `/model/NAME`, `/hook/NAME` and `/page/NAME` each do one bad thing; `/names` lists
// them and `/stats` counts open connections. Prints its port, and ends when its standard input does.

import { createServer } from 'node:http';
import { hook } from './hook.mjs';
import { answerMcp, mcp } from './mcp.mjs';
import { model } from './model.mjs';
import { page } from './page.mjs';
import { sendJson } from './send.mjs';

const kinds = { mcp, model, hook, page };
const sockets = new Set();
let bytesSent = 0;

const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
  const [, kind, name] = new URL(request.url, 'http://x').pathname.split('/');
  response.on('error', () => {});
  if (kind === 'names')
    return sendJson(response, Object.fromEntries(Object.entries(kinds).map(([key, all]) => [key, Object.keys(all)])));
  if (kind === 'stats') {
    response.shouldKeepAlive = false;
    return sendJson(response, { connections: sockets.size - 1, bytesSent });
  }
  if (kind === 'model' && name === 'named')
    return void answerAsNamed(request, response).catch(() => response.destroy());
  const behave = Object.hasOwn(kinds, kind) && Object.hasOwn(kinds[kind], name) ? kinds[kind][name] : undefined;
  if (behave === undefined) return void response.writeHead(404).end();
  if (kind === 'mcp') return void answerMcp(behave, request, response).catch(() => response.destroy());
  // A body that is not read would block the connection.
  request.resume().on('error', () => {});
  behave(response, request);
});
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => {
    bytesSent += socket.bytesWritten;
    sockets.delete(socket);
  });
});
/** `/model/named` does what the request itself asks for: `behave as cut`. A server has one model endpoint for all its sessions. */
async function answerAsNamed(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const [, name] = /behave as ([\w-]+)/.exec(Buffer.concat(chunks).toString()) ?? [];
  if (name === undefined || !Object.hasOwn(model, name)) return void response.writeHead(404).end();
  model[name](response, request);
}

server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit());
