// Endpoints of the Messages API.

import { begin, bomb, drip, flood, MIB, rawFlood, X64K } from './send.mjs';

const START = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 1, output_tokens: 0 } } };
const sse = (value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const block = (index, content_block) => sse({ type: 'content_block_start', index, content_block });
const delta = (index, value) => sse({ type: 'content_block_delta', index, delta: value });
const stop = (index) => sse({ type: 'content_block_stop', index });
const END =
  sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }) +
  sse({ type: 'message_stop' });
const started = (response) => (begin(response).write(sse(START)), response);
const call = (response, piece, times, last) => {
  started(response).write(block(0, { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} }));
  flood(response, delta(0, { type: 'input_json_delta', partial_json: piece }), times, last ?? stop(0) + END);
};

export const model = {
  fine: (response) => started(response).end(block(0, { type: 'text', text: 'fine' }) + stop(0) + END),
  'endless-line': (response) => (begin(response).write('data: '), flood(response, X64K)),
  'endless-pings': (response) => flood(started(response), sse({ type: 'ping' }).repeat(1_000)),
  'endless-text': (response) => {
    started(response).write(block(0, { type: 'text', text: '' }));
    flood(response, delta(0, { type: 'text_delta', text: 'x'.repeat(4_000) }));
  },
  'endless-unknown': (response) => flood(started(response), sse({ type: 'new_kind', data: 'x'.repeat(60_000) })),
  'slow-pings': (response) => drip(started(response), sse({ type: 'ping' })),
  'drip-line': (response) => (begin(response).write('data: '), drip(response, 'x')),
  'many-blocks': (response) => {
    started(response);
    let index = 0;
    const more = () => {
      while (!response.destroyed)
        if (!response.write(block(index, { type: 'text', text: '' }) + stop(index++)))
          return void response.once('drain', more);
    };
    more();
  },
  'fat-blocks': (response) => {
    started(response);
    for (let index = 0; index < 40; index++)
      response.write(block(index, { type: 'new_kind', data: 'x'.repeat(2 * MIB) }) + stop(index));
    response.end(END);
  },
  citations: (response) => {
    started(response).write(block(0, { type: 'text', text: '' }));
    flood(response, delta(0, { type: 'citations_delta', citation: {} }).repeat(200));
  },
  'deep-input': (response) => call(response, '{"a":'.repeat(1_000), 200),
  'bracket-input': (response) => call(response, '['.repeat(4_000), 1_000),
  'object-input': (response) => {
    started(response).write(block(0, { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} }));
    flood(response, delta(0, { type: 'input_json_delta', partial_json: '[{},{},' }).repeat(100));
  },
  'wide-input': (response) => {
    started(response).write(block(0, { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} }));
    response.write(delta(0, { type: 'input_json_delta', partial_json: '{"a":[0' }));
    flood(
      response,
      delta(0, { type: 'input_json_delta', partial_json: ',{}'.repeat(1_000) }),
      2_000,
      delta(0, { type: 'input_json_delta', partial_json: ']}' }) + stop(0) + END,
    );
  },
  'bracket-event': (response) => (begin(response).write('data: '), flood(response, '['.repeat(64 * 1024), 60, '\n\n')),
  'object-event': (response) => (
    begin(response).write('data: ['), flood(response, '{},'.repeat(20_000), 60, '{}]\n\n')
  ),
  html: (response) => flood(begin(response, 'text/html'), X64K),
  'no-type': (response) => flood(response.writeHead(200), X64K),
  'endless-error': (response) => flood(begin(response, 'application/json', 500), X64K),
  'drip-error': (response) => drip(begin(response, 'application/json', 529), 'x'),
  'deep-error': (response) => begin(response, 'application/json', 400).end('['.repeat(2 * MIB)),
  'gzip-error': (response) =>
    begin(response, 'application/json', 500, { 'content-encoding': 'gzip' }).end(bomb('x', 200)),
  gzip: (response) =>
    begin(response, 'text/event-stream', 200, { 'content-encoding': 'gzip' }).end(bomb(sse({ type: 'ping' }), 100)),
  'gzip-line': (response) =>
    begin(response, 'text/event-stream', 200, { 'content-encoding': 'gzip' }).end(bomb('x', 200)),
  redirect: (response) => response.writeHead(307, { location: '/model/fine/v1/messages' }).end(),
  silence: () => {},
  headers: (response) => rawFlood(response, 'HTTP/1.1 200 OK\r\n', `x-a: ${'y'.repeat(1_000)}\r\n`),
  cut: (response) => (started(response), setTimeout(() => response.destroy(), 20)),
  'wrong-types': (response) =>
    started(response).end(sse({ type: 'content_block_start', index: {}, content_block: [] })),
  'odd-usage': (response) =>
    started(response).end(
      sse({ type: 'message_delta', delta: 5, usage: { output_tokens: -1e308, __proto__: 1 } }) + END,
    ),
};
