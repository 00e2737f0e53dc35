import OpenAI, {
  APIConnectionError,
  APIUserAbortError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModelServer, serveScriptedModel } from '../http.ts';

// The official SDK, unmodified, against the endpoint, as it would call the real API.

let server: ScriptedModelServer;
let client: OpenAI;

beforeAll(async () => {
  server = await serveScriptedModel();
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any', maxRetries: 0 });
});

afterAll(async () => {
  await server.close();
});

const thinkingAloud = [
  { think: 'Let me look.' },
  { say: 'Three areas to check.', chunks: 6 },
  { call: 'bash', input: { command: 'ls -l "/tmp"', deep: [1, { ä: '👩🚀' }] } },
  { call: 'apply_patch', input: 'a "patch"' },
];
const tools: OpenAI.Responses.Tool[] = [
  { type: 'function', name: 'bash', parameters: { type: 'object' }, strict: false },
  { type: 'custom', name: 'apply_patch' },
];

describe('responses', () => {
  it('[K74] create without a stream gives the whole response', async () => {
    const response = await client.responses.create({ ...asking(thinkingAloud), tools });
    expect(response).toMatchObject({ object: 'response', status: 'completed', model: 'gpt-5.5', error: null });
    expect(response.output_text).toBe('Three areas to check.');
    expect(response.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'Let me look.' }] },
      { type: 'message', role: 'assistant' },
      { type: 'function_call', name: 'bash' },
      { type: 'custom_tool_call', name: 'apply_patch', input: 'a "patch"' },
    ]);
    const call = response.output.find((item) => item.type === 'function_call');
    expect(JSON.parse(call?.arguments ?? '')).toEqual(thinkingAloud[2]?.input);
    expect(response._request_id).toMatch(/^req_01/);
  });

  it('[K74] the SDK folds the stream to the response that it gets without one', async () => {
    const stream = client.responses.stream({ ...asking(thinkingAloud), tools });
    const pieces: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => pieces.push(delta));
    const streamed = await stream.finalResponse();
    const whole = await client.responses.create({ ...asking(thinkingAloud), tools });
    expect(streamed.output_text).toBe(whole.output_text);
    // The SDK adds fields of its own to a folded response, so that only ours are compared.
    expect(streamed.output).toMatchObject(whole.output);
    expect(streamed.usage).toEqual(whole.usage);
    expect(pieces).toHaveLength(6);
  });

  it('[K74] create with a stream gives every event that adds up to the items', async () => {
    const sums = new Map<string, string>();
    const types: string[] = [];
    for await (const event of await client.responses.create({ ...asking(thinkingAloud), tools, stream: true })) {
      types.push(event.type);
      if ('delta' in event && typeof event.delta === 'string') {
        sums.set(event.type, `${sums.get(event.type) ?? ''}${event.delta}`);
      }
    }
    expect(types[0]).toBe('response.created');
    expect(types.at(-1)).toBe('response.completed');
    expect([...sums.values()]).toEqual([
      'Let me look.',
      'Three areas to check.',
      JSON.stringify(thinkingAloud[2]?.input),
      'a "patch"',
    ]);
  });

  it('[K74] a loop over tools ends with the answer that quotes the results', async () => {
    const turns = [
      [{ think: 'Both.' }, { call: 'bash', input: { a: 1 } }, { call: 'apply_patch', input: 'two' }],
      [{ expect: { tool_result: 'result of two', tools: ['bash', 'apply_patch'] } }, { say: '{{n}}: {{results}}.' }],
    ];
    const content = `<script>${JSON.stringify({ turns })}</script>`;
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content }];
    const first = await client.responses.stream({ model: 'scripted/echo', input, tools }).finalResponse();
    // The cast: among the types of items that the SDK knows is one that cannot be sent, which the scripted model never makes.
    input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]));
    for (const item of first.output) {
      if (item.type === 'function_call') {
        input.push({ type: 'function_call_output', call_id: item.call_id, output: `result of ${item.arguments}` });
      }
      if (item.type === 'custom_tool_call') {
        input.push({ type: 'custom_tool_call_output', call_id: item.call_id, output: `result of ${item.input}` });
      }
    }
    const second = await client.responses.create({ model: 'scripted/echo', input, tools });
    expect(second.output_text).toBe('2: result of {"a":1}\nresult of two.');
  });

  it('[K74] models are listed', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toContain('scripted/echo');
  });
});

describe('failures', () => {
  it('[K74] 429 with retry-after is tried again after that time, and then answered', async () => {
    const turn = [{ fail: { status: 429, times: 2, retry_after_s: 0.01 } }, { say: 'third time' }];
    const patient = client.withOptions({ maxRetries: 2 });
    const startedAt = performance.now();
    expect((await patient.responses.create(asking(turn))).output_text).toBe('third time');
    // Without the header the SDK waits for about a second in all.
    expect(performance.now() - startedAt).toBeLessThan(700);
  });

  it('[K74] an error that is not retried is thrown as an error of the SDK, with code, message and id', async () => {
    const fails = async (fail: object) =>
      await client.responses.create(asking([{ fail }])).catch((error: unknown) => error);
    const limited = await fails({ status: 429, message: 'Slow down' });
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited).toMatchObject({ code: 'rate_limit_exceeded', requestID: expect.stringMatching(/^req_01/) });
    expect(await fails({ status: 500 })).toBeInstanceOf(InternalServerError);
    const invalid = client.responses.create({ ...asking([]), previous_response_id: 'resp_1' });
    await expect(invalid).rejects.toThrow(BadRequestError);
    await expect(invalid).rejects.toMatchObject({ param: 'previous_response_id', type: 'invalid_request_error' });
    await expect(client.responses.create({ model: 'scripted/unknown', input: 'a' })).rejects.toThrow(NotFoundError);
    await expect(client.responses.retrieve('resp_1')).rejects.toThrow(NotFoundError);
  });

  it('[K74] a failure in the stream is an event with its code', async () => {
    const fail = { status: 400, type: 'context_length_exceeded', message: 'Too long', in_stream: true };
    const events = [];
    for await (const event of await client.responses.create({ ...asking([{ say: 'a' }, { fail }]), stream: true })) {
      events.push(event);
    }
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'context_length_exceeded', message: 'Too long' } },
    });
  });

  it('[K74] a cut stream throws, after the text before the cut', async () => {
    const pieces: string[] = [];
    const stream = client.responses.stream(asking([{ say: 'half of ' }, { cut: true }, { say: 'it' }]));
    stream.on('response.output_text.delta', ({ delta }) => pieces.push(delta));
    await expect(stream.finalResponse()).rejects.toThrow('terminated');
    expect(pieces).toEqual(['half ', 'of ']);
    await expect(client.responses.create(asking([{ cut: true }]))).rejects.toThrow(APIConnectionError);
  });

  it('[K74] an abort ends the stream for both sides', async () => {
    const stream = client.responses.stream(asking([{ say: 'a' }, { sleep_ms: 60_000 }, { say: 'b' }]));
    stream.on('response.output_text.delta', () => stream.abort());
    await expect(stream.finalResponse()).rejects.toThrow(APIUserAbortError);
  });
});

function asking(turn: object[]): { model: string; input: string } {
  return { model: 'gpt-5.5', input: `<script>${JSON.stringify({ turns: [turn] })}</script>` };
}
