import Anthropic, {
  APIConnectionError,
  APIUserAbortError,
  BadRequestError,
  ContentTooLargeError,
  NotFoundError,
  OverloadedError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModelServer, serveScriptedModel } from './http.ts';

// The official SDK, unmodified, against the endpoint, as it would call the real API.

let server: ScriptedModelServer;
let client: Anthropic;

beforeAll(async () => {
  server = await serveScriptedModel({ bodyBytesMax: 100_000 });
  client = new Anthropic({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
});

afterAll(async () => {
  await server.close();
});

const thinkingAloud = [
  { think: 'Let me look.' },
  { say: 'Three areas to check.', chunks: 6 },
  { call: 'bash', input: { command: 'ls -l "/tmp"', deep: [1, { ä: '👩🚀' }] } },
  { call: 'bash', input: {} },
];

describe('messages', () => {
  it('[K23] create without a stream gives the whole message', async () => {
    const message = await client.messages.create(asking(thinkingAloud));
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_01/),
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5',
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'Let me look.', signature: expect.stringMatching(/.{40}/) },
        { type: 'text', text: 'Three areas to check.' },
        { type: 'tool_use', name: 'bash', input: { command: 'ls -l "/tmp"', deep: [1, { ä: '👩🚀' }] } },
        { type: 'tool_use', name: 'bash', input: {} },
      ],
    });
    expect(message._request_id).toMatch(/^req_01/);
  });

  it('[K23] create with a stream gives the events, without pings', async () => {
    const types: string[] = [];
    let text = '';
    for await (const event of await client.messages.create({ ...asking(thinkingAloud), stream: true })) {
      types.push(event.type);
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
    }
    expect(text).toBe('Three areas to check.');
    expect(types[0]).toBe('message_start');
    expect(types.slice(-2)).toEqual(['message_delta', 'message_stop']);
    expect(types).not.toContain('ping');
    expect(types.filter((type) => type === 'content_block_start')).toHaveLength(4);
  });

  it('[K23] the SDK folds the stream to the message that it gets without one', async () => {
    const stream = client.messages.stream(asking(thinkingAloud));
    const pieces: string[] = [];
    const thoughts: string[] = [];
    stream.on('text', (piece) => pieces.push(piece)).on('thinking', (piece) => thoughts.push(piece));
    const streamed = await stream.finalMessage();
    const { _request_id, ...whole } = await client.messages.create(asking(thinkingAloud));
    // The SDK adds fields of its own to a folded message, so that only ours are compared.
    expect(JSON.parse(JSON.stringify(streamed))).toMatchObject(whole);
    expect(pieces).toHaveLength(6);
    expect(thoughts.join('')).toBe('Let me look.');
    expect(stream.request_id).toBe(_request_id);
  });

  it('[K23] a loop over tools ends with the answer that quotes the results', async () => {
    const turns = [
      [
        { call: 'add', input: { a: 1 } },
        { call: 'add', input: { a: 2 } },
      ],
      [{ expect: { tool_result: 'sum of 2', tools: 'add' } }, { say: 'Got {{results}}.' }],
    ];
    const content = `<script>${JSON.stringify({ turns })}</script>`;
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content }];
    const tools: Anthropic.Tool[] = [{ name: 'add', input_schema: { type: 'object' } }];
    const asked = { model: 'scripted/echo', max_tokens: 100, tools };
    const first = await client.messages.stream({ ...asked, messages }).finalMessage();
    const calls = first.content.filter((block) => block.type === 'tool_use');
    messages.push({ role: 'assistant', content: first.content });
    messages.push({
      role: 'user',
      content: calls.map(({ id, input }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: `sum of ${(input as { a: number }).a}`,
      })),
    });
    expect(await client.messages.stream({ ...asked, messages }).finalText()).toBe('Got sum of 1\nsum of 2.');
  });

  it('[K23] stop reasons arrive with their details', async () => {
    const refused = await client.messages.stream(asking([{ stop: 'refusal' }])).finalMessage();
    expect(refused).toMatchObject({ stop_reason: 'refusal', stop_details: { type: 'refusal' }, content: [] });
    const paused = await client.messages.create(asking([{ say: 'a' }, { stop: 'pause_turn' }]));
    expect(paused.stop_reason).toBe('pause_turn');
  });

  it('[K23] counting tokens gives what the message will report', async () => {
    const asked = { model: 'scripted/echo', messages: [{ role: 'user' as const, content: 'How long is this?' }] };
    const counted = await client.messages.countTokens(asked);
    const { usage } = await client.messages.create({ ...asked, max_tokens: 100 });
    expect(counted).toMatchObject({ input_tokens: 5 });
    expect(usage).toMatchObject({ input_tokens: 5, output_tokens: 5, cache_read_input_tokens: 0 });
  });
});

describe('models', () => {
  it('[K23] models are listed over all pages, and found by id', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list({ limit: 2 })) ids.push(id);
    expect(ids).toEqual(['echo', 'flaky', 'research', 'slow', 'tools', 'worker'].map((name) => `scripted/${name}`));
    expect(await client.models.retrieve('scripted/echo')).toMatchObject({ type: 'model', id: 'scripted/echo' });
    await expect(client.models.retrieve('scripted/unknown')).rejects.toThrow(NotFoundError);
  });
});

describe('errors', () => {
  it('[K23] 429 with retry-after is tried again after that time, and then answered', async () => {
    const turn = [{ fail: { status: 429, times: 2, retry_after_s: 0.01 } }, { say: 'third time' }];
    const patient = client.withOptions({ maxRetries: 2 });
    const startedAt = performance.now();
    expect((await patient.messages.create(asking(turn))).content).toMatchObject([{ text: 'third time' }]);
    // Without the header the SDK waits for more than a second in all.
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    const again = asking([...turn, { say: 'for a stream' }]);
    expect(await patient.messages.stream(again).finalText()).toContain('third time');
  });

  it('[K23] an error that is not retried is thrown as an error of the SDK, with type, message and id', async () => {
    const fails = async (fail: object) =>
      await client.messages.create(asking([{ fail }])).catch((error: unknown) => error);
    const overloaded = await fails({ status: 529, message: 'Overloaded' });
    expect(overloaded).toBeInstanceOf(OverloadedError);
    expect(overloaded).toMatchObject({ status: 529, type: 'overloaded_error', apiMessage: 'Overloaded' });
    expect(overloaded).toMatchObject({ requestID: expect.stringMatching(/^req_01/) });
    const limited = await fails({ status: 429, retry_after_s: 7 });
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited instanceof RateLimitError && limited.headers.get('retry-after')).toBe('7');
    expect(await fails({ status: 418, type: 'teapot_error' })).toMatchObject({ status: 418, type: 'teapot_error' });
  });

  it('[K23] an invalid request is a BadRequestError with its position, streamed or not', async () => {
    const wrong = { ...asking([]), messages: [{ role: 'user' as const, content: '<script>{"turns":3}</script>' }] };
    const message = 'the script in the first user message: turns: must be a list, got a number';
    await expect(client.messages.create(wrong)).rejects.toThrow(BadRequestError);
    await expect(client.messages.create(wrong)).rejects.toMatchObject({
      type: 'invalid_request_error',
      apiMessage: message,
    });
    await expect(client.messages.stream(wrong).finalMessage()).rejects.toMatchObject({
      status: 400,
      apiMessage: message,
    });
    await expect(
      client.messages.create({ ...asking([]), model: 'scripted/unknown', messages: [{ role: 'user', content: 'a' }] }),
    ).rejects.toThrow(NotFoundError);
  });

  it('[K23] a body over the limit is rejected with that reason', async () => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(5_000_000) }];
    const asked = { model: 'scripted/echo', max_tokens: 100, messages };
    await expect(client.messages.create(asked)).rejects.toThrow(ContentTooLargeError);
    await expect(client.messages.create(asked)).rejects.toMatchObject({ status: 413, type: 'request_too_large' });
  });

  it('[K23] a cut stream throws, after the text before the cut', async () => {
    const pieces: string[] = [];
    const stream = client.messages.stream(asking([{ say: 'half of ' }, { cut: true }, { say: 'it' }]));
    stream.on('text', (piece) => pieces.push(piece));
    await expect(stream.finalMessage()).rejects.toThrow('terminated');
    expect(pieces).toEqual(['half ', 'of ']);
    await expect(client.messages.create(asking([{ cut: true }]))).rejects.toThrow(APIConnectionError);
  });

  it('[K23] a cut answer that was not streamed is tried again by the SDK', async () => {
    const patient = client.withOptions({ maxRetries: 1 });
    const message = await patient.messages.create(asking([{ say: 'whole' }, { cut: { times: 1 } }]));
    expect(message.content).toMatchObject([{ text: 'whole' }]);
  });

  it('[K23] an abort ends the stream for both sides', async () => {
    const stream = client.messages.stream(asking([{ say: 'a' }, { sleep_ms: 60_000 }, { say: 'b' }]));
    stream.on('text', () => stream.abort());
    await expect(stream.finalMessage()).rejects.toThrow(APIUserAbortError);
  });
});

function asking(turn: object[]): Anthropic.MessageCreateParamsNonStreaming {
  const content = `<script>${JSON.stringify({ turns: [turn] })}</script>`;
  return { model: 'claude-sonnet-5', max_tokens: 100, messages: [{ role: 'user', content }] };
}
