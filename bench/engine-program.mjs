#!/usr/bin/env node
// Replaces Codex, opencode and an ACP agent: writes texts in their formats at a given pace, each with the time at which it was written.
// The message has the parameters: `{"lines":400,"everyMs":5}`.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [kind] = process.argv.slice(2);
if (kind === '--version') {
  console.log(process.argv[1].includes('opencode') ? '1.18.33' : 'codex-cli 0.166.0');
  process.exit(0);
}
/** Milliseconds since 1970, finer than Date.now, and comparable between two processes. */
function toText() {
  return `@${(performance.timeOrigin + performance.now()).toFixed(3)}@ ${'x'.repeat(200)}`;
}

async function each(message, write) {
  const { lines, everyMs } = JSON.parse(message);
  for (let at = 0; at < lines; at++) {
    write(at, toText());
    await sleep(everyMs);
  }
}

function answerLines(methods) {
  createInterface({ input: process.stdin })
    .on('line', (line) => void answer(JSON.parse(line)))
    .on('close', () => process.exit(0));

  async function answer({ id, method, params }) {
    const result = await methods[method]?.(params, id);
    if (id !== undefined && result !== undefined) write({ id, result });
  }
}

function write(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

const codex = {
  initialize: () => ({ userAgent: 'fleetloom/0.166.0 (bench)' }),
  'thread/start': () => ({ thread: { id: 'thread' }, model: 'bench' }),
  'turn/start': ({ input }, id) => {
    const at = { threadId: 'thread', turnId: 'turn' };
    write({ id, result: { turn: { id: 'turn' } } });
    write({ method: 'turn/started', params: { ...at, turn: { id: 'turn' } } });
    void each(input[0].text, (index, text) => {
      write({ method: 'item/completed', params: { ...at, item: { type: 'agentMessage', id: `item_${index}`, text } } });
    }).then(() => write({ method: 'turn/completed', params: { ...at, turn: { id: 'turn', status: 'completed' } } }));
  },
};

const acp = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: 'bench', version: '1' } }),
  'session/new': () => ({ sessionId: 'session' }),
  'session/prompt': async ({ prompt }) => {
    await each(prompt.at(-1).text, (index, text) => {
      const update = { sessionUpdate: 'agent_message_chunk', messageId: `m${index}`, content: { type: 'text', text } };
      write({ method: 'session/update', params: { sessionId: 'session', update } });
    });
    return { stopReason: 'end_turn' };
  },
};

if (kind === 'serve') serveOpencode();
else if (kind === 'acp') answerLines(acp);
else answerLines(codex);

function serveOpencode() {
  const sessionID = 'ses_bench';
  let stream;
  const emit = (type, properties) =>
    stream.write(`data: ${JSON.stringify({ type, properties: { sessionID, ...properties } })}\n\n`);
  const answer = async ({ messageID, parts }) => {
    const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } };
    const info = {
      id: `${messageID}z`,
      sessionID,
      parentID: messageID,
      role: 'assistant',
      modelID: 'bench',
      time: { created: 1 },
      tokens,
    };
    emit('session.status', { status: { type: 'busy' } });
    emit('message.updated', { info });
    const part = { messageID: info.id, sessionID, type: 'text', time: { start: 1, end: 2 } };
    await each(parts[0].text, (at, text) => emit('message.part.updated', { part: { ...part, id: `prt_${at}`, text } }));
    emit('message.part.updated', { part: { id: 'prt_end', messageID: info.id, sessionID, type: 'step-finish' } });
    emit('message.updated', { info: { ...info, finish: 'stop', time: { created: 1, completed: 2 } } });
    emit('session.idle', {});
  };
  createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://127.0.0.1');
    if (pathname === '/event') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      return stream.write('data: {"type":"server.connected","properties":{}}\n\n');
    }
    const chunks = [];
    request
      .on('data', (chunk) => chunks.push(chunk))
      .on('end', () => {
        if (pathname.endsWith('prompt_async')) void answer(JSON.parse(Buffer.concat(chunks).toString()));
        const body =
          pathname === '/session'
            ? { id: sessionID, title: 'x' }
            : pathname === '/global/health'
              ? { version: '1.18.33' }
              : {};
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
  }).listen(0, '127.0.0.1', function () {
    console.log(`opencode server listening on http://127.0.0.1:${this.address().port}`);
  });
}
