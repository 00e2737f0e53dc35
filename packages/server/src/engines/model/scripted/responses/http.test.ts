import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedModelServer, type ServeScriptedModelOptions, serveScriptedModel } from '../http.ts';
import { limits } from '../limits.ts';
import { createScriptedModel } from '../model.ts';
import type { ResponsesEvent } from './wire.ts';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

describe('streams', () => {
  it('[K60] a stream has an event line and a data line for each event, in the order of the API', async () => {
    const response = await post(await serve(), asking([{ say: 'Hi there' }]));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const id = response.headers.get('x-request-id')?.slice('req_'.length);
    const blocks = (await response.text()).split('\n\n');
    expect(blocks.pop()).toBe('');
    const names = blocks.map((block) => block.split('\n')[0]?.slice('event: '.length));
    expect(names).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const place = `"item_id":"msg_${id}_0","output_index":0,"content_index":0`;
    expect(blocks[4]).toBe(
      'event: response.output_text.delta\n' +
        `data: {"type":"response.output_text.delta",${place},"delta":"Hi ","logprobs":[],"sequence_number":4}`,
    );
  });

  it('[K60] events are numbered from 0, and the same request gives the same bytes from another server', async () => {
    const turn = [{ think: 'Hm' }, { say: 'Hello 👩🚀', every_ms: 1 }, { call: 'bash', input: { a: 1 } }];
    const texts = [];
    for (const server of [await serve(), await serve()]) {
      texts.push(await (await post(server, asking(turn))).text());
    }
    expect(texts[0]).toBe(texts[1]);
    const events = parseEvents(texts[0] ?? '');
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  });

  it('[K61] think, say and call are a reasoning item, a message and a function call, in the pieces of the Messages API', async () => {
    const turn = [
      { think: 'Let me look.', chunks: 2 },
      { say: 'Two words', chunks: 3 },
      { call: 'bash', input: { command: 'ls' } },
    ];
    const events = await stream(await serve(), asking(turn));
    const of = (type: string) => events.filter((event) => event.type === type);
    expect(of('response.reasoning_summary_text.delta').map(deltaOf)).toEqual(['Let me', ' look.']);
    expect(of('response.output_text.delta').map(deltaOf)).toEqual(['Two', ' wo', 'rds']);
    expect(of('response.function_call_arguments.delta').map(deltaOf).join('')).toBe('{"command":"ls"}');
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: {
        status: 'completed',
        output: [
          {
            type: 'reasoning',
            id: expect.stringMatching(/^rs_/),
            summary: [{ type: 'summary_text', text: 'Let me look.' }],
            encrypted_content: expect.stringMatching(/.{40}/),
          },
          {
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'Two words' }],
          },
          {
            type: 'function_call',
            call_id: expect.stringMatching(/^call_/),
            name: 'bash',
            arguments: '{"command":"ls"}',
          },
        ],
      },
    });
    const added = of('response.output_item.added').map((event) => 'item' in event && event.item);
    const done = of('response.output_item.done').map((event) => 'item' in event && event.item);
    expect(added).toMatchObject([{ summary: [] }, { content: [] }, { arguments: '' }]);
    const last = events.at(-1);
    expect(done).toEqual(last !== undefined && 'response' in last && last.response.output);
  });

  it('[K61] pauses are those of the script', async () => {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    await stream(await serve({ sleep }), asking([{ sleep_ms: 70 }, { say: 'one two three', every_ms: 20 }]));
    expect(waits).toEqual([70, 20, 20]);
  });

  it('[K62] a tool of a namespace is called as namespace.tool', async () => {
    const turn = [
      { expect: { tools: ['agents.spawn', 'web_search'] } },
      { call: 'agents.spawn', input: { message: 'Hi' } },
    ];
    const tools = [
      { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn', parameters: {} }] },
      { type: 'web_search' },
    ];
    const { output } = await create(await serve(), asking(turn, { tools }));
    expect(output).toMatchObject([
      { type: 'function_call', namespace: 'agents', name: 'spawn', arguments: '{"message":"Hi"}' },
    ]);
  });

  it('[K62] a call of a tool that is declared as custom sends its text, also where an item declares the tool', async () => {
    const patch = '*** Begin Patch\n"quoted" 👩🚀\n*** End Patch';
    const turn = [{ call: 'apply_patch', input: patch }];
    const custom = { type: 'custom', name: 'apply_patch' };
    const server = await serve();
    const events = await stream(server, asking(turn, { tools: [custom] }));
    const deltas = events.filter((event) => event.type === 'response.custom_tool_call_input.delta').map(deltaOf);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe(patch);
    expect(events.find((event) => event.type === 'response.custom_tool_call_input.done')).toMatchObject({
      input: patch,
    });
    const call = { type: 'custom_tool_call', name: 'apply_patch', input: patch };
    const { input } = asking(turn);
    const functions = { type: 'namespace', name: 'functions', tools: [custom] };
    const declaring = { type: 'additional_tools', tools: [functions] };
    expect((await create(server, { ...asking(turn), input: [declaring, ...input] })).output).toMatchObject([call]);
    const undeclared = { type: 'function_call', name: 'apply_patch', arguments: JSON.stringify({ input: patch }) };
    expect((await create(server, asking(turn))).output).toMatchObject([undeclared]);
    const json = { call: 'apply_patch', input: { path: 'a' } };
    expect((await create(server, asking([json], { tools: [custom] }))).output).toMatchObject([
      { input: '{"path":"a"}' },
    ]);
  });

  it('[K62] on the Messages API a text is the field input of the call', async () => {
    const content = toScript([{ call: 'apply_patch', input: 'the patch' }]);
    const asked = { model: 'scripted/echo', max_tokens: 9, messages: [{ role: 'user', content }] };
    const { content: blocks } = await createScriptedModel().create(asked);
    expect(blocks).toMatchObject([{ type: 'tool_use', name: 'apply_patch', input: { input: 'the patch' } }]);
  });
});

describe('whole responses', () => {
  it('[K63] without a stream the response is that of the last event', async () => {
    const server = await serve();
    const asked = asking([{ think: 'Hm' }, { say: 'Hello' }, { call: 'bash', input: {} }]);
    const last = (await stream(server, asked)).at(-1);
    expect(await create(server, asked)).toEqual(last !== undefined && 'response' in last && last.response);
  });

  it('[K68] the stop reason decides how a response ends', async () => {
    const server = await serve();
    const endings = {
      end_turn: { status: 'completed', error: null, incomplete_details: null },
      max_tokens: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      refusal: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      model_context_window_exceeded: { status: 'failed', error: { code: 'context_length_exceeded' } },
    };
    for (const [stop, ending] of Object.entries(endings)) {
      const asked = asking([{ say: 'so far' }, { stop }]);
      expect(await create(server, asked)).toMatchObject(ending);
      expect((await stream(server, asked)).at(-1)?.type).toBe(`response.${ending.status}`);
    }
  });

  it('[K69] cached tokens are part of the input, and thoughts part of the output', async () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 30,
      output_tokens: 50,
    };
    const text = JSON.stringify({ turns: [[{ think: '12345678' }, { say: 'Hi' }]], usage });
    const server = await serve();
    const claimed = await create(server, { model: 'scripted/echo', input: `<script>${text}</script>` });
    expect(claimed.usage).toEqual({
      input_tokens: 240,
      input_tokens_details: { cached_tokens: 200, cache_write_tokens: 30 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 290,
    });
    const derived = await create(server, { model: 'scripted/echo', input: 'How long is this?' });
    expect(derived.usage).toMatchObject({ input_tokens: 5, output_tokens: 5, total_tokens: 10 });
  });
});

describe('failures', () => {
  it('[K66] a failing attempt has the error body of the API, its request id and the time to wait', async () => {
    const server = await serve();
    const failing = async (fail: object) => {
      const response = await post(server, asking([{ fail }]));
      expect(response.headers.get('x-request-id')).toMatch(/^req_01/);
      return { status: response.status, retry: response.headers.get('retry-after'), body: await response.json() };
    };
    const toBody = (message: string, type: string, code: string | null) => ({
      error: { message, type, param: null, code },
    });
    expect(await failing({ status: 429, message: 'Slow down', retry_after_s: 0.25 })).toEqual({
      status: 429,
      retry: '0.25',
      body: toBody('Slow down', 'rate_limit_exceeded', 'rate_limit_exceeded'),
    });
    expect((await failing({ status: 500, message: 'Broken' })).body).toEqual(toBody('Broken', 'server_error', null));
    expect((await failing({ status: 503, message: 'Full' })).body).toEqual(
      toBody('Full', 'server_error', 'server_is_overloaded'),
    );
    expect((await failing({ status: 429, type: 'insufficient_quota', message: 'No money' })).body).toEqual(
      toBody('No money', 'insufficient_quota', 'insufficient_quota'),
    );
  });

  it('[K66] the attempt after the failing ones is answered, counted for each prompt_cache_key', async () => {
    const server = await serve();
    const asked = asking([{ fail: { status: 500, times: 2 } }, { say: 'third time' }]);
    const statuses = [];
    for (const prompt_cache_key of ['a', 'b', 'a', 'a', 'b', 'b']) {
      statuses.push((await post(server, { ...asked, prompt_cache_key })).status);
    }
    expect(statuses).toEqual([500, 500, 500, 200, 500, 200]);
  });

  it('[K67] a failure in the stream is the last event of both APIs, after the content before it', async () => {
    const server = await serve();
    const fail = { status: 529, message: 'Too much', in_stream: true };
    const events = await stream(server, asking([{ say: 'so far' }, { fail }, { say: 'and on' }]));
    expect(events.filter((event) => event.type === 'response.output_text.delta').map(deltaOf)).toEqual(['so ', 'far']);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_is_overloaded', message: 'Too much' },
        output: [{ type: 'message', status: 'completed' }],
      },
    });
    const content = toScript([{ say: 'so far' }, { fail }]);
    const messages = { model: 'scripted/echo', max_tokens: 9, stream: true, messages: [{ role: 'user', content }] };
    const lines = (await (await post(server, messages, '/v1/messages')).text()).trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('event: content_block_delta'))).toHaveLength(2);
    expect(lines.slice(-2)).toEqual([
      'event: error',
      expect.stringContaining('"error":{"type":"overloaded_error","message":"Too much"}'),
    ]);
  });

  it('[K67] without a stream it is the status, and the attempt after it is answered', async () => {
    const server = await serve();
    const fail = { status: 400, type: 'context_length_exceeded', message: 'Too long', in_stream: true };
    const asked = asking([{ say: 'so far' }, { fail }, { say: ' and on' }], { stream: false });
    const response = await post(server, asked);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'context_length_exceeded' } },
    ]);
    expect((await create(server, asked)).output).toHaveLength(2);
    const streamed = asking([{ fail }, { say: 'x' }]);
    expect((await stream(server, streamed)).at(-1)).toMatchObject({
      response: { error: { code: 'context_length_exceeded' } },
    });
  });

  it('[K70] a cut drops the connection in the item before it, and the next attempt has other ids', async () => {
    const server = await serve();
    const asked = asking([{ say: 'half of ' }, { call: 'bash', input: {} }, { cut: { times: 1 } }, { say: 'it' }]);
    const cut = await readUntilBroken(await post(server, asked));
    expect(cut.isBroken).toBe(true);
    const first = parseEvents(cut.text);
    expect(first.at(-1)?.type).toBe('response.function_call_arguments.delta');
    const second = await stream(server, asked);
    expect(second.at(-1)?.type).toBe('response.completed');
    const idsOf = (events: ResponsesEvent[]) =>
      events.flatMap((event) => ('item' in event && event.type.endsWith('.added') ? [event.item.id] : []));
    expect(idsOf(first)).toHaveLength(2);
    expect(idsOf(second)).toHaveLength(3);
    expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(5);
  });
});

describe('routes and limits', () => {
  it('[K65] requests that do not reach the model have the error body of the API, too', async () => {
    const { url } = await serve({ bodyBytesMax: 1_000 });
    const path = `${url}/v1/responses`;
    const problems: [address: string, init: RequestInit, status: number, message: string][] = [
      [path, {}, 405, 'Method not allowed: GET; allowed: POST'],
      [path, { method: 'POST', body: '{' }, 400, 'The request body is not valid JSON'],
      [path, { method: 'POST', body: '3' }, 400, 'body: must be an object, got a number'],
      [path, { method: 'POST', body: '{"input":"a"}' }, 400, 'model: is missing, and must be a string'],
      [
        path,
        { method: 'POST', body: JSON.stringify('x'.repeat(1_000)) },
        413,
        'Request exceeds the maximum size of 1000 bytes',
      ],
      [`${path}/resp_1`, {}, 404, 'Not found: GET /v1/responses/resp_1'],
    ];
    for (const [address, init, status, message] of problems) {
      const response = await fetch(address, init);
      expect([response.status, await response.json()]).toMatchObject([status, { error: { message, code: null } }]);
      expect(response.headers.get('x-request-id')).toMatch(/^req_01/);
    }
  });

  it('[K72] a body of the largest size is answered, and one byte more is a 413', async () => {
    const body = JSON.stringify({ model: 'scripted/echo', input: 'Hello' });
    const { url } = await serve({ bodyBytesMax: body.length });
    const send = async (text: string) => (await fetch(`${url}/v1/responses`, { method: 'POST', body: text })).status;
    expect(await send(body)).toBe(200);
    expect(await send(`${body} `)).toBe(413);
  });

  it('[K72] a body with too many values, or nested too deep, is a 400 before it is parsed', async () => {
    const server = await serve();
    const toMany = (count: number) => ({
      model: 'scripted/echo',
      input: 'a',
      metadata: { list: Array(count).fill(0) },
    });
    const toDeep = (depth: number) => {
      const deep: unknown = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
      return { model: 'scripted/echo', input: 'a', metadata: deep };
    };
    expect((await post(server, toMany(limits.bodyValuesMax - 10))).status).toBe(200);
    expect((await post(server, toDeep(limits.bodyDepthMax - 1))).status).toBe(200);
    for (const asked of [toMany(limits.bodyValuesMax), toDeep(limits.bodyDepthMax)]) {
      const response = await post(server, asked);
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { type: 'invalid_request_error' } },
      ]);
    }
  });
});

interface Asked {
  model: string;
  stream?: boolean;
  input: object[];
}

function asking(turn: object[], more: object = {}): Asked {
  return { model: 'gpt-5.5', stream: true, input: [{ role: 'user', content: toScript(turn) }], ...more };
}

function toScript(turn: object[]): string {
  return `<script>${JSON.stringify({ turns: [turn] })}</script>`;
}

async function serve(options: ServeScriptedModelOptions = {}): Promise<ScriptedModelServer> {
  const server = await serveScriptedModel(options);
  open.push(server);
  return server;
}

async function post({ url }: ScriptedModelServer, body: object, path = '/v1/responses'): Promise<Response> {
  return await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
}

async function stream(server: ScriptedModelServer, asked: object): Promise<ResponsesEvent[]> {
  const response = await post(server, asked);
  expect(response.status).toBe(200);
  return parseEvents(await response.text());
}

async function create(server: ScriptedModelServer, asked: object): Promise<Record<string, unknown>> {
  const response = await post(server, { ...asked, stream: false });
  const body = (await response.json()) as Record<string, unknown>;
  expect([response.status, body['error'] === null || body['status'] === 'failed']).toEqual([200, true]);
  return body;
}

async function readUntilBroken(response: Response): Promise<{ text: string; isBroken: boolean }> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { text, isBroken: false };
  } catch {
    return { text, isBroken: true };
  }
}

/** Strict: every block is an event line that repeats the type of its data line. */
function parseEvents(text: string): ResponsesEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [name = '', data = '', ...rest] = block.split('\n');
      const event = JSON.parse(data.slice('data: '.length)) as ResponsesEvent;
      expect([name, rest]).toEqual([`event: ${event.type}`, []]);
      return event;
    });
}

function deltaOf(event: ResponsesEvent): string {
  return 'delta' in event ? event.delta : '';
}
