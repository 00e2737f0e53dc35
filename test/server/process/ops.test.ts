import Anthropic from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { knownModels } from '../../../packages/server/src/engines/model/known-models.ts';
import { outcomeOf } from '../../../packages/server/src/http/routes/records.suite.ts';
import type { RequestLogEntry } from '../../../packages/server/src/base/request-log.ts';
import { toScript, withServer } from '../server.suite.ts';

it('[W20] models are the scripts, and the known ones where the official endpoint is configured, in pages by id', () =>
  withServer(
    async ({ client }) => {
      const ids: string[] = [];
      for await (const model of client.beta.models.list({ limit: 3 })) ids.push(model.id);
      expect(ids).toEqual([...ids].sort());
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toContain('scripted/echo');
      expect(ids).toEqual(expect.arrayContaining(knownModels().map(({ id }) => id)));
      const first = await client.beta.models.list({ limit: 2 });
      expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
      const { data } = await client.beta.models.list({ limit: 2, before_id: ids[5]! });
      expect(data.map(({ id }) => id)).toEqual(ids.slice(3, 5));
      expect(await client.beta.models.retrieve('scripted/echo')).toMatchObject({
        type: 'model',
        id: 'scripted/echo',
        display_name: 'Scripted: echo',
      });
      expect(await client.get('/v1/models/scripted/echo')).toMatchObject({ id: 'scripted/echo' });
      expect(await client.beta.models.retrieve('claude-opus-4-5')).toMatchObject({
        display_name: 'Claude Opus 4.5',
        line: 'opus',
        max_input_tokens: 200_000,
      });
      expect(await outcomeOf(client.beta.models.retrieve('gpt'))).toBe('404 not_found_error');
      expect(await outcomeOf(client.beta.models.list({ limit: 1_001 }))).toBe('400 invalid_request_error');
    },
    { models: { credential: { apiKey: 'none' } } },
  ));

it('[W20] without a credential, or with an endpoint of its own, only scripts are listed', async () => {
  const credential = { apiKey: 'none' };
  for (const options of [{}, { models: { credential, baseURL: 'http://127.0.0.1:9' } }]) {
    await withServer(async ({ client }) => {
      for await (const model of client.beta.models.list()) expect(model.id).toMatch(/^scripted\//);
    }, options);
  }
});

it('[W21] the metrics count requests, frames, commits, model requests, tool calls, streams and running sessions', () =>
  withServer(async ({ client, url, key }) => {
    const read = async () => {
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      return parseMetrics(await answer.text());
    };
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
    const turns = [
      [{ call: 'lookup', input: {} }],
      [{ sleep_ms: 1_000 }, { say: 'done' }],
      [{ fail: { status: 400 } }],
    ];
    const agent = await client.beta.agents.create({
      name: 'a',
      model: 'scripted/inline',
      system: toScript(turns),
      tools: [{ type: 'custom', name: 'lookup', description: 'x', input_schema: { type: 'object' } }],
    });
    const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id });
    const stream = await client.beta.sessions.events.stream(id);
    const send = (event: object) => client.beta.sessions.events.send(id, { events: [event as never] });
    await send({ type: 'user.message', content: [{ type: 'text', text: 'go' }] });
    let starts = 0;
    for await (const event of stream) {
      if (event.type === 'agent.custom_tool_use') {
        await send({ type: 'user.custom_tool_result', custom_tool_use_id: event.id });
      }
      // The second one takes its time.
      if (event.type === 'span.model_request_start' && ++starts === 2) {
        const during = await read();
        expect(during.get('fleetloom_sessions_running')).toBe(1);
        expect(during.get('fleetloom_open_streams')).toBe(1);
      }
      if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break;
    }
    await send({ type: 'user.message', content: [{ type: 'text', text: 'fail' }] });
    let after = await read();
    while (!after.has('fleetloom_model_requests_total{outcome="request_failed"}')) after = await read();
    while (after.get('fleetloom_sessions_running') !== 0) after = await read();
    expect(after.get('fleetloom_model_requests_total{outcome="ok"}')).toBe(2);
    expect(after.get('fleetloom_tool_calls_total{kind="custom"}')).toBe(1);
    expect(after.get('fleetloom_http_requests_total{route="metrics",status="401"}')).toBe(1);
    expect(after.get('fleetloom_http_requests_total{route="sessions.events.send",status="200"}')).toBe(3);
    expect(after.get('fleetloom_frames_appended_total')).toBeGreaterThan(20);
    const commits = after.get('fleetloom_commit_latency_seconds_count')!;
    expect(commits).toBeGreaterThan(5);
    expect(after.get('fleetloom_commit_latency_seconds_bucket{le="+Inf"}')).toBe(commits);
    expect(after.get('fleetloom_commit_latency_seconds_bucket{le="0.001"}')).toBeLessThanOrEqual(commits);
  }));

it('[W22] clients of the Messages API use the scripted model below /scripted, with a key of the server', () =>
  withServer(async ({ url, key }) => {
    const client = new Anthropic({ baseURL: `${url}/scripted`, apiKey: key, maxRetries: 0 });
    const params = {
      model: 'scripted/echo',
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: 'hello there' }],
    };
    const { content } = await client.messages.create(params);
    expect(JSON.stringify(content)).toContain('hello there');
    const streamed = await client.messages.stream(params).finalMessage();
    expect(JSON.stringify(streamed.content)).toContain('hello there');
    const stranger = new Anthropic({ baseURL: `${url}/scripted`, apiKey: 'wrong', maxRetries: 0 });
    expect(await outcomeOf(stranger.messages.create(params))).toBe('401 authentication_error');
    expect(await outcomeOf(client.get('/v1/nothing'))).toBe('404 not_found_error');
    const whole = 'x'.repeat(3_000_000);
    const large = { ...params, messages: [{ role: 'user' as const, content: whole }] };
    expect((await client.messages.countTokens(large)).input_tokens).toBeGreaterThan(100_000);
  }));

it('[W23] each request is logged once, with its id and route, and nothing secret', async () => {
  const entries: RequestLogEntry[] = [];
  const log = { onRequest: (entry: RequestLogEntry) => entries.push(entry) };
  let secret = '';
  await withServer(
    async ({ client, key, url }) => {
      secret = key;
      const { _request_id: id } = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
      await fetch(`${url}/v1/agents?api_key=${key}`, { headers: { 'x-api-key': key } });
      expect(entries.map((entry) => [entry.route, entry.status])).toEqual([
        ['agents.create', 200],
        ['agents.list', 400],
      ]);
      expect(entries[0]!.requestId).toBe(id);
    },
    { log },
  );
  expect(JSON.stringify(entries)).not.toContain(secret);
});

it('[W25] with a rate limit a key that sends too many requests gets the time to retry after', () =>
  withServer(
    async ({ client, url, key }) => {
      expect([await outcomeOf(client.beta.agents.list()), await outcomeOf(client.beta.agents.list())]).toEqual([
        'ok',
        'ok',
      ]);
      const answer = await fetch(`${url}/v1/agents`, { headers: { 'x-api-key': key } });
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1000']);
      expect(await outcomeOf(client.beta.agents.list())).toBe('429 rate_limit_error');
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    },
    { rateLimit: { perSecond: 0.001, burst: 2 } },
  ));

function parseMetrics(text: string): ReadonlyMap<string, number> {
  const lines = text.trim().split('\n');
  for (const line of lines)
    expect(line).toMatch(
      /^(# (HELP|TYPE) (fleetloom|process|nodejs)_\w+ .+|(fleetloom|process|nodejs)_\w+(\{[^}]*\})? [\d.e+-]+)$/,
    );
  const values = lines.filter((line) => !line.startsWith('#')).map((line) => line.split(/ (?=[^ ]+$)/));
  return new Map(values.map(([name, value]) => [name!, Number(value)]));
}
