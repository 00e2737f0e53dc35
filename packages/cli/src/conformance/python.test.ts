import { rm } from 'node:fs/promises';
import { type FleetloomServer, startServer } from '@fleetloom/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { makeDirectory } from './conformance.suite.ts';
import { agentForm } from './forms/record-forms.ts';
import { PythonClient, type PythonOptions, readPython } from './python-client.suite.ts';
import { toScript } from './harness/script.ts';

// Each is many requests, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const kinds = [
  { kind: 'sync', lists: 'brackets' },
  { kind: 'async', lists: 'brackets' },
  { kind: 'sync', lists: 'repeat' },
] as const satisfies Partial<PythonOptions>[];

let directory: string;
let server: FleetloomServer;

beforeAll(async () => {
  directory = await makeDirectory();
  server = await startServer({ dataDirectory: directory });
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

function connect(options: Partial<PythonOptions> = {}): PythonClient {
  return new PythonClient({ url: server.url, key: server.firstKey!, ...options });
}

/** A session whose agent says some words, and what belongs to it. */
async function begin(python: PythonClient, params: object = {}) {
  const system = toScript([[{ think: 'hm' }, { say: 'one two three', every_ms: 20 }]]);
  const agent = await python.post('/v1/agents', { body: { name: 'écho', model: 'scripted/echo', system, ...params } });
  const environment = await python.post('/v1/environments', { body: { name: 'python' } });
  const body = { agent: agent.json.id, environment_id: environment.json.id };
  const session = await python.post('/v1/sessions', { body });
  expect([agent.status, environment.status, session.status]).toEqual([200, 200, 200]);
  return { agent: agent.json, environment: environment.json, session: session.json, id: session.json.id as string };
}

const say = (text: string) => ({ events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });

describe.each(kinds)('the Python client ($kind, lists by $lists)', (options) => {
  it('[Q42] agents and environments: made with the fewest fields, changed, listed, archived and deleted', async () => {
    const python = connect(options);
    const made = await python.post('/v1/agents', { body: { name: 'plain', model: 'scripted/echo' } });
    expect([made.status, agentForm(made.json, 'agent')]).toEqual([200, []]);
    const { id, created_at } = made.json;
    const changed = await python.post(`/v1/agents/${id}`, { body: { version: 1, description: 'größer' } });
    expect([changed.json.version, changed.json.description]).toEqual([2, 'größer']);
    expect((await python.get(`/v1/agents/${id}`, { query: { version: 1 } })).json.description).toBe(null);

    // A datetime with its zone, as isoformat() writes it: the + is part of it.
    const moment = created_at.replace('Z', '000+00:00');
    const query = { 'created_at[gte]': moment, 'created_at[lte]': moment, include_archived: true, limit: 100 };
    const listed = await python.get('/v1/agents', { query });
    expect(listed.json.data.map((each: { id: string }) => each.id)).toContain(id);

    // Nothing is sent, and it says that this is JSON.
    const archived = await python.post(`/v1/agents/${id}/archive`);
    expect([archived.status, typeof archived.json.archived_at]).toEqual([200, 'string']);

    const environment = await python.post('/v1/environments', {
      body: { name: 'gone' },
      betas: ['message-batches-2024-09-24'],
    });
    const deleted = await python.delete(`/v1/environments/${environment.json.id}`);
    expect([deleted.status, deleted.json.type]).toEqual([200, 'environment_deleted']);
  });

  it('[Q42] lists of statuses and types filter, pages continue with all parameters, and errors have its classes', async () => {
    const python = connect(options);
    const { agent, id } = await begin(python);
    const query = { agent_id: agent.id, statuses: ['idle', 'running'], order: 'asc', limit: 1 } as const;
    const sessions = await python.get('/v1/sessions', { query });
    expect(sessions.json.data.map((each: { id: string }) => each.id)).toEqual([id]);
    expect((await python.get('/v1/sessions', { query: { ...query, statuses: ['terminated'] } })).json.data).toEqual([]);

    await rest(python, id);
    const types: string[] = [];
    let page: string | null = '';
    while (page !== null) {
      const cursor: object = page === '' ? {} : { page };
      const wanted = { types: ['user.message', 'agent.message', 'session.status_idle'], limit: 1, ...cursor };
      const { json } = await python.get(`/v1/sessions/${id}/events`, { query: wanted });
      types.push(...json.data.map((each: { type: string }) => each.type));
      page = json.next_page;
    }
    expect(types).toEqual(['user.message', 'agent.message', 'session.status_idle']);
    const threads = await python.get(`/v1/sessions/${id}/threads`, { query: { statuses: ['idle'] } });
    expect(threads.json.data.length).toBe(1);

    const missing = await python.get('/v1/sessions/sesn_01AAAAAAAAAAAAAAAAAAAAAA');
    expect([missing.status, missing.json.error.type]).toEqual([404, 'not_found_error']);
    expect(missing.json.request_id).toBe(missing.headers['request-id']);
    const wrong = await connect({ ...options, key: 'sk-ant-api03-wrong' }).get('/v1/agents');
    expect([wrong.status, wrong.json.error.type]).toEqual([401, 'authentication_error']);
    expect((await python.delete(`/v1/sessions/${id}`)).json.type).toBe('session_deleted');
  });

  it('[Q43] a stream is not packed, and each frame is one that it knows or may leave out', async () => {
    const python = connect(options);
    const { id } = await begin(python);
    const query = { event_deltas: ['agent.message', 'agent.thinking'] };
    const response = await python.open(`/v1/sessions/${id}/events/stream`, { query });
    expect([response.statusCode, response.headers['content-encoding']]).toEqual([200, undefined]);
    expect(response.headers['content-type']).toMatch(/^text\/event-stream/);
    await python.post(`/v1/sessions/${id}/events`, { body: say('go') });
    const events: { type: string; id?: string }[] = [];
    for await (const event of readPython(response)) {
      events.push(event);
      if (event.type === 'session.status_idle') break;
    }
    const types = events.map(({ type }) => type);
    for (const type of [
      'event_start',
      'event_delta',
      'agent.thinking',
      'agent.message',
      'session.thread_status_idle',
    ]) {
      expect(types).toContain(type);
    }
    // What it leaves out, the list has.
    expect(types).not.toContain('session.usage');
    const { json } = await python.get(`/v1/sessions/${id}/events`);
    const listed = json.data as { type: string; id: string }[];
    const seen = new Set(events.map((event) => event.id));
    expect(listed.filter((event) => !seen.has(event.id)).map(({ type }) => type)).toEqual(['session.usage']);
  });

  it('[Q42] a request that it repeats is applied once, and one that it means again twice', async () => {
    const python = connect(options);
    const { id } = await begin(python);
    const first = await python.post(`/v1/sessions/${id}/events`, { body: say('once') });
    const repeated = await python.post(`/v1/sessions/${id}/events`, { body: say('once'), retries: 1 });
    expect(repeated.json).toEqual(first.json);
    const again = await python.post(`/v1/sessions/${id}/events`, { body: say('once') });
    expect(again.json.data[0].id).not.toBe(first.json.data[0].id);
  });

  it('[Q42] a tool of the client is answered with the fewest fields', async () => {
    const python = connect(options);
    const tools = [{ type: 'custom', name: 'lookup', description: 'x', input_schema: { type: 'object' } }];
    const system = toScript([[{ call: 'lookup', input: {} }], [{ say: 'done' }]]);
    const { id } = await begin(python, { tools, system });
    const [idle] = (await rest(python, id)).slice(-1);
    const [custom_tool_use_id] = idle.stop_reason.event_ids;
    const body = { events: [{ type: 'user.custom_tool_result', custom_tool_use_id }] };
    const events = await rest(python, id, body);
    expect(events.at(-1).stop_reason).toEqual({ type: 'end_turn' });
  });

  it('[Q42] files: one is uploaded as httpx packs it, found, read back and deleted', async () => {
    const python = connect(options);
    const betas = ['files-api-2025-04-14'];
    const file = { name: 'fäcts.txt', type: 'text/plain', content: 'häppy facts' };
    const made = await python.post('/v1/files', { file, betas });
    expect([made.status, made.json.filename, made.json.mime_type]).toEqual([200, file.name, file.type]);
    const { id } = made.json;
    const page = await python.get('/v1/files', { betas, query: { limit: 1 } });
    expect([page.json.first_id, page.json.last_id, typeof page.json.has_more]).toEqual([id, id, 'boolean']);
    const headers = { Accept: 'application/binary' };
    expect((await python.get(`/v1/files/${id}/content`, { betas, headers })).text).toBe(file.content);
    expect((await python.delete(`/v1/files/${id}`, { betas })).json).toEqual({ id, type: 'file_deleted' });
  });

  it('[Q42] a worker polls, acknowledges, beats and stops', async () => {
    const python = connect(options);
    const body = { name: 'mine', config: { type: 'self_hosted' } };
    const environment = (await python.post('/v1/environments', { body })).json;
    const work = `/v1/environments/${environment.id}/work`;
    const headers = { 'Anthropic-Worker-ID': 'python-1' };
    const empty = await python.get(`${work}/poll`, { headers, query: { block_ms: 1 } });
    expect([empty.status, empty.json ?? null]).toEqual([200, null]);
    const agent = (await python.post('/v1/agents', { body: { name: 'x', model: 'scripted/echo' } })).json;
    await python.post('/v1/sessions', { body: { agent: agent.id, environment_id: environment.id } });
    const item = (await python.get(`${work}/poll`, { headers, query: { block_ms: 999 } })).json;
    expect((await python.post(`${work}/${item.id}/ack`)).json.state).toBe('starting');
    // Parameters of a heartbeat go into its query.
    const beat = { expected_last_heartbeat: 'NO_HEARTBEAT', desired_ttl_seconds: 30 };
    expect((await python.post(`${work}/${item.id}/heartbeat`, { query: beat })).json.lease_extended).toBe(true);
    expect((await python.post(`${work}/${item.id}/stop`, { body: { force: true } })).json.state).toBe('stopped');
    expect((await python.get(`${work}/stats`)).json.type).toBe('work_queue_stats');
  });
});

/** Sends, and waits on a stream that is opened afterwards, as its examples do. Gives what is listed then. */
// oxlint-disable-next-line typescript/no-explicit-any
async function rest(python: PythonClient, id: string, body: object = say('go')): Promise<any[]> {
  const before = (await python.get(`/v1/sessions/${id}/events`)).json.data.length;
  await python.post(`/v1/sessions/${id}/events`, { body });
  const response = await python.open(`/v1/sessions/${id}/events/stream`);
  for await (const event of readPython(response)) if (event.type === 'session.status_idle') break;
  const { data } = (await python.get(`/v1/sessions/${id}/events`)).json;
  expect(data.length).toBeGreaterThan(before);
  return data;
}
