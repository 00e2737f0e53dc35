// MCP servers. Each is as it should be, but for one thing.

import { begin, bomb, drip, flood, MIB, raw, rawFlood, sendJson, X64K } from './send.mjs';

const TOOL = { name: 'echo', description: 'Says it again', inputSchema: { type: 'object' } };

/** A server as it should be, but for what `behave` does instead. */
export async function answerMcp(behave, request, response) {
  if (request.method === 'GET')
    return behave.get === undefined ? void response.writeHead(405).end() : behave.get(response);
  if (request.method === 'DELETE') return void response.writeHead(200).end();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const message = JSON.parse(Buffer.concat(chunks).toString());
  const answer = (result) => sendJson(response, { jsonrpc: '2.0', id: message.id, result });
  const refuse = (code) => sendJson(response, { jsonrpc: '2.0', id: message.id, error: { code, message: 'no' } });
  if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end();
  if (message.method === 'server/discover') return behave.discover?.(response, message, answer) ?? refuse(-32601);
  const own = { initialize: behave.initialize, 'tools/list': behave.list, 'tools/call': behave.call }[message.method];
  if (own !== undefined) return own(response, message, answer, request);
  if (message.method === 'initialize') {
    const capabilities = { tools: { listChanged: true } };
    return answer({ protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'hostile', version: '1' } });
  }
  if (message.method === 'tools/list') return answer({ tools: [TOOL] });
  return answer({ content: [{ type: 'text', text: 'fine' }] });
}

const tool = (changes) => ({ ...TOOL, ...changes });
const list = (tools, more = {}) => ({ list: (_response, _message, answer) => answer({ tools, ...more }) });
const result = (value) => ({ call: (_response, _message, answer) => answer(value) });
const text = (length) => ({ content: [{ type: 'text', text: 'x'.repeat(length) }] });
const event = (value) => `data: ${JSON.stringify(value)}\n\n`;
const deep = (levels) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
const notification = (method, params) => event({ jsonrpc: '2.0', method, ...(params && { params }) });
const requestOf = (method, id) => event({ jsonrpc: '2.0', id, method, params: {} });
const head = (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`;

export const mcp = {
  fine: {},
  // The stream of notifications.
  'stream-endless-line': { get: (response) => flood(begin(response), X64K) },
  'stream-endless-comments': { get: (response) => flood(begin(response), ': ping\n\n'.repeat(1_000)) },
  'stream-returns': { get: (response) => flood(begin(response), '\r'.repeat(64 * 1024)) },
  'stream-changes': {
    get: (response) => flood(begin(response), notification('notifications/tools/list_changed').repeat(100)),
  },
  'stream-progress': {
    get: (response) =>
      flood(begin(response), notification('notifications/progress', { progressToken: 0, progress: 1 }).repeat(100)),
  },
  'stream-pings': {
    get: (response) => {
      let id = 0;
      begin(response);
      const timer = setInterval(() => {
        for (let count = 0; count < 200; count++) response.write(requestOf('ping', `p${id++}`));
      }, 5);
      response.on('close', () => clearInterval(timer));
    },
  },
  'stream-requests': {
    get: (response) => {
      begin(response);
      const methods = ['sampling/createMessage', 'elicitation/create', 'roots/list', '__proto__', 'constructor'];
      for (const [id, method] of methods.entries()) response.write(requestOf(method, `r${id}`));
    },
  },
  'stream-brackets': { get: (response) => flood(begin(response), `data: ${'['.repeat(60_000)}`, 10) },
  'stream-reconnects': { get: (response) => begin(response).end('retry: 0\nid: 1\ndata:\n\n') },
  'stream-long-id': { get: (response) => begin(response).end(`id: ${X64K}\ndata:\n\n`) },
  'stream-headers': { get: (response) => rawFlood(response, 'HTTP/1.1 200 OK\r\n', `x-a: ${'y'.repeat(1_000)}\r\n`) },
  // Tools.
  'list-huge-pages': {
    list: (response, message) => {
      begin(response, 'application/json').write(
        `{"jsonrpc":"2.0","id":${message.id},"result":{"tools":[],"nextCursor":"${Math.random()}","x":"`,
      );
      flood(response, X64K, 512, '"}}');
    },
  },
  'list-endless-pages': {
    list: (_response, _message, answer) => answer({ tools: [], nextCursor: String(Math.random()) }),
  },
  'list-same-page': list([TOOL], { nextCursor: 'same' }),
  'list-many': list(Array.from({ length: 40_000 }, () => tool({}))),
  'list-same-names': list(Array.from({ length: 1_000 }, () => tool({ name: 'x'.repeat(300) }))),
  'list-huge-schema': list([tool({ inputSchema: { type: 'object', description: 'x'.repeat(MIB) } })]),
  'list-deep-schema': {
    list: (response, { id }) =>
      begin(response, 'application/json').end(
        `{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"x","inputSchema":${deep(2_000)}}]}}`,
      ),
  },
  'list-wide-schema': list([tool({ inputSchema: { type: 'object', enum: Array.from({ length: 200_000 }, () => 0) } })]),
  'list-object': list({}),
  'list-text': list('tools'),
  'list-null': list(null),
  'list-nulls': list([null, 1, 'x', []]),
  'list-nameless': list([{ inputSchema: { type: 'object' } }]),
  'list-number-name': list([tool({ name: 5 })]),
  'list-text-schema': list([tool({ inputSchema: 'object' })]),
  'list-no-schema': list([{ name: 'x' }]),
  'list-object-description': list([tool({ description: {} })]),
  'list-odd-names': list(
    ['__proto__', 'constructor', 'toString', '', ' ', '../../etc/passwd', '\u001b[2J\u202e'].map((name) =>
      tool({ name }),
    ),
  ),
  'list-html': { list: (response) => begin(response, 'text/html').end('<html>secret</html>') },
  'list-error-body': { list: (response) => begin(response, 'text/plain', 500).end('the secret of the house') },
  'list-endless-error': { list: (response) => flood(begin(response, 'text/plain', 500), X64K) },
  'list-endless-refusal': { list: (response) => flood(begin(response, 'application/json', 400), X64K) },
  'list-error-words': {
    list: (response, message) =>
      sendJson(response, {
        jsonrpc: '2.0',
        id: message.id,
        error: { code: -32000, message: 'the secret of the house' },
      }),
  },
  // Calls.
  'call-endless-json': {
    call: (response, { id }) => (begin(response, 'application/json').write(head(id)), flood(response, X64K)),
  },
  'call-endless-line': {
    call: (response, { id }) => (begin(response).write(`data: ${head(id)}`), flood(response, X64K)),
  },
  'call-100mb': {
    call: (response, { id }) => {
      begin(response, 'application/json').write(head(id));
      flood(response, X64K, 1_600, '"}]}}');
    },
  },
  'call-largest': result(text(6 * MIB - 200)),
  'call-largest-wide': result({ content: [{ type: 'text', text: '\u{1f600}'.repeat(1.5 * MIB - 100) }] }),
  'call-largest-event': {
    call: (response, { id }) => begin(response).end(event({ jsonrpc: '2.0', id, result: text(6 * MIB - 200) })),
  },
  'call-brackets': { call: (response) => flood(begin(response, 'application/json'), '['.repeat(64 * 1024)) },
  'call-objects': {
    call: (response) => (begin(response, 'application/json').write('[{}'), flood(response, ',{}'.repeat(20_000))),
  },
  'call-many-values': result({ content: [], structuredContent: { all: Array.from({ length: 49_000 }, () => 0) } }),
  'call-blocks': result({ content: Array.from({ length: 12_000 }, () => ({ type: 'text', text: '' })) }),
  'call-bad-blocks': result({ content: Array.from({ length: 24_000 }, () => ({})) }),
  'call-deep': {
    call: (response, { id }) =>
      begin(response, 'application/json').end(
        `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep(5_000)}}}`,
      ),
  },
  'call-top-fields': {
    call: (response, { id }) =>
      sendJson(response, {
        jsonrpc: '2.0',
        id,
        ...Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [at, 0])),
      }),
  },
  'call-batch': {
    call: (response, { id }) =>
      sendJson(
        response,
        Array.from({ length: 500 }, () => ({ jsonrpc: '2.0', id, result: text(1) })),
      ),
  },
  'call-audience': result({
    content: [{ type: 'text', text: 'x', annotations: { audience: Array.from({ length: 40_000 }, () => 0) } }],
  }),
  'call-largest-image': result({
    content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA'.repeat(1.5 * MIB - 100) }],
  }),
  'call-largest-escapes': {
    call: (response, { id }) =>
      begin(response, 'application/json').end(`${head(id)}${'\\n'.repeat(3 * MIB - 200)}"}]}}`),
  },
  'call-drip': { call: (response) => drip(begin(response, 'application/json'), ' ') },
  'call-drip-events': { call: (response) => drip(begin(response), ': wait\n\n') },
  'call-silence': { call: () => {} },
  'call-headers': { call: (response) => rawFlood(response, 'HTTP/1.1 200 OK\r\n', `x-a: ${'y'.repeat(1_000)}\r\n`) },
  'call-continue': { call: (response) => rawFlood(response, '', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)) },
  'call-status-600': { call: (response) => raw(response, 'HTTP/1.1 600 No\r\ncontent-length: 0\r\n\r\n') },
  'call-no-http': { call: (response) => raw(response, 'SSH-2.0-OpenSSH_9\r\n') },
  'call-trailers': {
    call: (response) => {
      rawFlood(
        response,
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n0\r\n',
        `x-a: ${'y'.repeat(1_000)}\r\n`,
      );
    },
  },
  'call-extensions': {
    call: (response) => {
      rawFlood(
        response,
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1;',
        'y'.repeat(1_000),
      );
    },
  },
  'call-redirect-away': {
    call: (response) => response.writeHead(307, { location: 'http://127.0.0.1:9/private' }).end(),
  },
  'call-redirect-loop': {
    call: (response, _message, _answer, request) => response.writeHead(307, { location: request.url }).end(),
  },
  'call-gzip': {
    call: (response) => begin(response, 'application/json', 200, { 'content-encoding': 'gzip' }).end(bomb('x', 100)),
  },
  'call-other-id': {
    call: (response, { id }) => {
      begin(response);
      for (let other = 0; other < 50; other++)
        if (other !== id) response.write(event({ jsonrpc: '2.0', id: other, result: text(3) }));
      response.end(event({ jsonrpc: '2.0', id, result: text(4) }));
    },
  },
  'call-progress': {
    call: (response) =>
      flood(begin(response), notification('notifications/progress', { progressToken: 1, progress: 1 }).repeat(100)),
  },
  'call-cut': {
    call: (response, { id }) => (
      begin(response, 'application/json').write(head(id)), setTimeout(() => response.destroy(), 20)
    ),
  },
  'call-text-error': result({ content: [{ type: 'text', text: 'x' }], isError: 'yes' }),
  'call-no-content': result({}),
  'call-null': result(null),
  'call-text-content': result({ content: 'words' }),
  'call-number-text': result({ content: [{ type: 'text', text: 5 }] }),
  'call-unknown-block': result({ content: [{ type: 'hologram', data: 'x' }] }),
  'call-bad-image': result({ content: [{ type: 'image', mimeType: 'image/png', data: 'not base64 ✓' }] }),
  'call-binary': { call: (response) => begin(response, 'application/octet-stream').end(Buffer.alloc(4 * MIB, 0xff)) },
  'call-not-json': { call: (response) => begin(response, 'application/json').end('the secret of the house') },
  'call-input-required': result({ resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } }),
  // The handshake.
  'init-endless': { initialize: (response) => flood(begin(response, 'application/json'), X64K) },
  'init-icons': {
    initialize: (_response, _message, answer) =>
      answer({
        protocolVersion: '2025-06-18',
        capabilities: {},
        serverInfo: { name: 'x', version: '1', icons: Array.from({ length: 40_000 }, () => ({})) },
      }),
  },
  'init-silence': { initialize: () => {} },
  'init-wrong': { initialize: (_response, _message, answer) => answer({ protocolVersion: 5, capabilities: 'all' }) },
  'init-secret': { initialize: (response) => begin(response, 'text/plain', 418).end('the secret of the house') },
  'init-version': {
    initialize: (_response, _message, answer) =>
      answer({ protocolVersion: 'the secret of the house', capabilities: {}, serverInfo: { name: 'x', version: '1' } }),
  },
  'discover-endless': { discover: (response) => (flood(begin(response, 'application/json'), X64K), true) },
};
