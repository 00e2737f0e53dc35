import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A test program in place of opencode: it serves the same routes and answers a message by its first word.
 * `say …` answers, `wait` works until it is aborted, `run …` starts a command that survives it and works until it is aborted,
 * `lose …` stores the message and answers it only when it is sent again, `break …` closes the stream of events in the middle of
 * the answer, `ask` wants a permission, `environment` answers with the names of its variables.
 */
export function writeOpencode({ version = '1.18.33', isMute = false } = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-simulated-opencode-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'opencode');
  writeFileSync(path, `#!/usr/bin/env node\nconst [version, isMute] = ${JSON.stringify([version, isMute])};\n${CODE}`);
  chmodSync(path, 0o755);
  return path;
}

const CODE = `
const { createServer } = require('node:http');
const { spawn } = require('node:child_process');
const { existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
if (process.argv.includes('--version')) {
  console.log(version);
  process.exit(0);
}
const data = process.env.XDG_DATA_HOME + '/opencode';
mkdirSync(data, { recursive: true });
const kept = existsSync(data + '/kept.json') ? JSON.parse(readFileSync(data + '/kept.json', 'utf8')) : {};
const keep = () => writeFileSync(data + '/kept.json', JSON.stringify(kept));
const streams = new Set();
const emit = (type, properties) => streams.forEach((stream) => stream.write('data: ' + JSON.stringify({ type, properties }) + '\\n\\n'));
let count = Object.values(kept).flat().length;
const nextId = () => 'msg_' + (BigInt(Date.now()) * 0x1000n & 0xffffffffffffn).toString(16).padStart(12, '0') + 'z' + count++;
const busy = new Map();
const asks = new Map();
const lost = new Set();

const update = (sessionID, entry, part) => {
  if (part === undefined) emit('message.updated', { sessionID, info: entry.info });
  else {
    entry.parts = [...entry.parts.filter(({ id }) => id !== part.id), part];
    emit('message.part.updated', { sessionID, part });
  }
  keep();
};
const status = (sessionID, type) => {
  if (type === 'busy') busy.set(sessionID, { type });
  else busy.delete(sessionID);
  emit('session.status', { sessionID, status: { type } });
  if (type === 'idle') emit('session.idle', { sessionID });
};
const begin = (sessionID, parentID, modelID) => {
  const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } };
  const entry = { info: { id: nextId(), sessionID, parentID, role: 'assistant', modelID, time: { created: 1 }, tokens }, parts: [] };
  kept[sessionID].push(entry);
  status(sessionID, 'busy');
  update(sessionID, entry);
  return entry;
};
const end = (sessionID, entry, change = { finish: 'stop' }) => {
  entry.info = { ...entry.info, ...change, time: { created: 1, completed: 2 } };
  update(sessionID, entry);
  status(sessionID, 'idle');
};
const say = (sessionID, entry, text) => {
  const part = { id: 'prt_' + entry.info.id, messageID: entry.info.id, sessionID, type: 'text', text: '', time: { start: 1 } };
  update(sessionID, entry, part);
  emit('message.part.delta', { sessionID, messageID: entry.info.id, partID: part.id, field: 'text', delta: text });
  update(sessionID, entry, { ...part, text, time: { start: 1, end: 2 } });
};
const running = new Map();
const answer = (sessionID, { messageID, parts, model, system }) => {
  const text = parts.map((part) => part.text).join('');
  const user = { info: { id: messageID, sessionID, role: 'user', time: { created: 1 } }, parts: [] };
  kept[sessionID].push(user);
  update(sessionID, user);
  const [verb, ...rest] = text.split(' ');
  if (verb === 'lose' && !lost.has(text)) return void lost.add(text);
  const entry = begin(sessionID, messageID, model.modelID);
  if (verb === 'wait') return void running.set(sessionID, entry);
  if (verb === 'run') {
    spawn('/bin/sh', ['-c', rest.join(' ')], { detached: true, stdio: 'ignore' }).unref();
    return void running.set(sessionID, entry);
  }
  if (verb === 'ask') {
    const part = { id: 'prt_call', messageID: entry.info.id, sessionID, type: 'tool', tool: 'bash', callID: 'call_1', state: { status: 'running', input: { command: 'ls' } } };
    const request = { id: 'per_1', sessionID, permission: 'bash', tool: { messageID: entry.info.id, callID: 'call_1' } };
    asks.set('per_1', { request, reply: (body) => {
      update(sessionID, entry, { ...part, state: { ...part.state, status: 'completed', output: JSON.stringify(body) } });
      end(sessionID, entry);
    } });
    update(sessionID, entry, part);
    emit('permission.asked', request);
    return;
  }
  if (verb === 'break') streams.forEach((stream) => stream.destroy());
  if (verb === 'environment') say(sessionID, entry, Object.keys(process.env).sort().join(' '));
  else say(sessionID, entry, rest.join(' ') + (system === undefined ? '' : ' / ' + system));
  end(sessionID, entry);
};
const abort = (sessionID) => {
  const entry = running.get(sessionID);
  running.delete(sessionID);
  if (entry === undefined) return;
  const error = { name: 'MessageAbortedError', data: { message: 'Aborted' } };
  emit('session.error', { sessionID, error });
  status(sessionID, 'idle');
  setTimeout(() => end(sessionID, entry, { error }), 20);
};

const routes = [
  ['GET', /^\\/global\\/health$/, () => ({ healthy: true, version })],
  ['GET', /^\\/session\\/status$/, () => Object.fromEntries(busy)],
  ['GET', /^\\/permission$/, () => [...asks.values()].map(({ request }) => request)],
  ['GET', /^\\/question$/, () => []],
  ['GET', /^\\/mcp$/, () => ({ broken: { status: 'failed', error: 'no such server' } })],
  ['POST', /^\\/session$/, () => {
    const id = 'ses_' + Date.now().toString(36) + count++;
    kept[id] = [];
    keep();
    return { id, title: 'x' };
  }],
  ['PATCH', /^\\/session\\/(\\w+)$/, () => true],
  ['GET', /^\\/session\\/(\\w+)\\/message$/, (_, id) => kept[id] ?? null],
  ['GET', /^\\/session\\/(\\w+)\\/children$/, () => []],
  ['DELETE', /^\\/session\\/(\\w+)\\/message\\/(\\w+)$/, (_, id, message) => {
    kept[id] = kept[id].filter(({ info }) => info.id !== message);
    return true;
  }],
  ['POST', /^\\/session\\/(\\w+)\\/prompt_async$/, (body, id) => (setTimeout(() => answer(id, body), 5), true)],
  ['POST', /^\\/session\\/(\\w+)\\/abort$/, (_, id) => (abort(id), true)],
  ['POST', /^\\/permission\\/(\\w+)\\/reply$/, (body, id) => {
    emit('permission.replied', { sessionID: asks.get(id).request.sessionID, requestID: id, reply: body.reply });
    asks.get(id).reply(body);
    asks.delete(id);
    return true;
  }],
];
const server = createServer((request, response) => {
  const expected = 'Basic ' + Buffer.from('opencode:' + process.env.OPENCODE_SERVER_PASSWORD).toString('base64');
  if (request.headers.authorization !== expected) return response.writeHead(401).end();
  const { pathname } = new URL(request.url, 'http://127.0.0.1');
  if (pathname === '/event') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    streams.add(response);
    response.on('close', () => streams.delete(response));
    return response.write('data: {"type":"server.connected","properties":{}}\\n\\n');
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const text = Buffer.concat(chunks).toString();
    for (const [method, pattern, run] of routes) {
      const found = request.method === method ? pattern.exec(pathname) : null;
      if (found === null) continue;
      const body = run(text === '' ? undefined : JSON.parse(text), ...found.slice(1));
      response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(body));
    }
    response.writeHead(404).end();
  });
});
if (isMute) setInterval(() => {}, 1000);
else server.listen(Number(process.argv[process.argv.indexOf('--port') + 1]), '127.0.0.1', () => {
  console.log('opencode server listening on http://127.0.0.1:' + server.address().port);
});
`;
