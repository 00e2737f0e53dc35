import { createServer } from 'node:http';
import { connect } from 'node:net';
import { createSlots, foldSlots } from '@fleetloom/protocol/fleet';
import { encodeComment } from '@fleetloom/protocol/sse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpLimits } from '../limits.ts';
import { viewLimits } from '../../views/limits.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { createManualClock } from '../../base/clock.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { createRetention } from '../../sessions/api/retention.ts';
import { createEventStreams } from '../streams/sse/event-streams.ts';
import {
  type FleetReader,
  type FleetServer,
  ofStream,
  ofType,
  openFleetServer,
  parallel,
  streamIdOf,
  textOf,
  toScript,
} from './fleet.suite.ts';

let fleet: FleetServer;
beforeAll(async () => {
  fleet = await openFleetServer({ defaultAgent: 'index' });
  for (const [name, city] of [
    ['a', 'Paris'],
    ['b', 'Berlin'],
    ['c', 'Rome'],
  ]) {
    await fleet.agent(`researcher_${name}`, { turns: [[{ say: `RESULT: ${city}` }]] });
  }
  await fleet.agent('echo');
  await fleet.agent('hanging', { turns: [[{ say: 'begun ' }, { sleep_ms: 60_000 }]] });
  const block = parallel(['researcher_a', 'France'], ['researcher_b', 'Germany'], ['researcher_c', 'Italy']);
  await fleet.agent('index', {
    turns: [[{ say: `Plan: fan out three researchers.\n${block}` }], [{ say: 'Paris, Berlin, and Rome.' }]],
  });
  await fleet.agent('talker', { turns: [[{ say: 'word '.repeat(80), chunks: 80, every_ms: 5 }]] });
});
afterAll(async () => {
  await fleet.close();
  expect(fleet.problems).toEqual([]);
});

function play(turns: readonly (readonly object[])[], more: object = {}) {
  const agent_def = { name: 'master', model: 'scripted/echo', system: toScript({ turns }), ...more };
  return fleet.orchestrate({ message: 'Go', agent_def });
}

describe('the documented example', () => {
  it('[V43] a master with three researchers gives the documented events, in the documented order of each stream', async () => {
    const events = await (await fleet.orchestrate({ message: 'Three capitals?' })).all();
    // As documented; the prose of the delegating iteration is the one line that gating leaves of it.
    const documented = new Map<number | undefined, readonly string[]>([
      [undefined, ['request_received', 'done']],
      [0, ['stream_start', 'text', 'tool_call', 'token_usage', 'text', 'stream_end']],
      ...[1, 2, 3].map((id) => {
        const order = ['stream_start', 'agent_start', 'text', 'sub_agent_response', 'token_usage', 'stream_end'];
        return [id, order] as const;
      }),
    ]);
    for (const [streamId, order] of documented) {
      const types = events.filter((event) => streamIdOf(event) === streamId).map(({ type }) => type);
      let at = -1;
      for (const type of order) {
        at = types.indexOf(type as never, at + 1);
        expect(at, `${type} of ${streamId} in ${types.join()}`).toBeGreaterThanOrEqual(0);
      }
    }
    // All three begin before the first text, as in the example.
    const kinds = events.map((event) => `${event.type} ${streamIdOf(event)}`);
    const starts = [1, 2, 3].map((id) => kinds.indexOf(`stream_start ${id}`));
    expect(Math.max(...starts)).toBeLessThan(Math.min(...[1, 2, 3].map((id) => kinds.indexOf(`agent_start ${id}`))));
    expect(ofStream(events, 0).flatMap((event) => (event.type === 'text' ? [event.delta] : []))).toEqual([
      '→ delegating: 3 in parallel\n',
      'Paris, Berlin, and Rome.',
    ]);
    expect([1, 2, 3].map((id) => textOf(events, id))).toEqual(['RESULT: Paris', 'RESULT: Berlin', 'RESULT: Rome']);
    expect(ofType(events, 'tool_call')).toMatchObject([{ stream_id: 0, tool: 'parallel', ok: true }]);
    expect(events.at(-1)).toMatchObject({ type: 'done', ok: true, content: 'Paris, Berlin, and Rome.' });
    expect(events.reduce(foldSlots, createSlots())).toMatchObject({ gapCount: 0, unknownEvents: 0 });
  });
});

describe('readers', () => {
  it('[V42] stopped, disconnected or two hundred readers affect neither the run nor each other', {
    timeout: 120_000,
  }, async () => {
    const block = parallel(...Array.from({ length: 3 }, () => ['chatter', 'talk'] as const));
    await fleet.agent('chatter', { turns: [[{ say: 'word '.repeat(25), chunks: 25, every_ms: 20 }]] });
    const first = await play([[{ say: block }], [{ say: 'Done.' }]]);
    const { session_id: id } = await first.untilType('request_received');
    const path = `/v1/sessions/${id}/fleet`;
    const stopped = await fleet.watch(path);
    stopped.pause();
    const killed = await fleet.watch(path);
    const crowd = await Promise.all(Array.from({ length: 200 }, () => fleet.watch(path)));
    await first.met(() => first.events.length > 20);
    killed.kill();
    // If a stopped reader blocked the run, this would not resolve.
    const all = await first.all();
    const [done] = ofType(all, 'done');
    expect(done).toMatchObject({ ok: true });
    const text = JSON.stringify(all);
    for (const reader of crowd) {
      await reader.untilType('done');
      expect(JSON.stringify(reader.events)).toBe(text);
      reader.kill();
    }
    stopped.resume();
    await stopped.untilType('done');
    expect(JSON.stringify(stopped.events)).toBe(text);
    stopped.kill();
  });

  it('[V50] a reader that is too far behind the shared tail reads the log on its own, and misses no event', async () => {
    // Three bytes per character: the length of a script is limited in characters.
    const chunk = `${'€'.repeat(4_000)} `;
    const pieces = Math.ceil((2.5 * viewLimits.fleetChannelBytesMax) / Buffer.byteLength(chunk));
    const message = toScript({ turns: [[{ say: chunk.repeat(pieces), chunks: pieces, every_ms: 1 }]] });
    const first = await fleet.orchestrate({ agent: 'echo', message });
    const { session_id: id } = await first.untilType('request_received');
    const slow = await fleet.watch(`/v1/sessions/${id}/fleet`, { query: { gate: 'off' } });
    await slow.met(() => slow.events.length > 5);
    slow.pause();
    await first.all();
    slow.resume();
    await slow.untilType('done');
    slow.kill();
    expect(textOf(slow.events, 0)).toBe(chunk.repeat(pieces));
    const replay = await fleet.watch(`/v1/sessions/${id}/fleet`, { query: { gate: 'off', follow: 'false' } });
    expect(JSON.stringify(slow.events)).toBe(JSON.stringify(await replay.all()));
  });

  it('[V51] an idle stream receives comments, which are not events', async () => {
    const clock = createManualClock(0);
    const { schedule, advance } = createManualSchedule(clock);
    const streams = createEventStreams({ clock, schedule });
    const server = createServer((_, response) => void streams.open(response, 'key', { beats: 'comments' }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (more: string) => (text += more));
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const until = async (wanted: string) => {
      while (!text.includes(wanted)) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until('\r\n\r\n');
    advance(httpLimits.streamPingMs);
    await until(encodeComment('ping'));
    streams.drain();
    await until(`retry: ${httpLimits.streamRetryMs}\n\n`);
    expect(text).not.toContain('event:');
    socket.destroy();
    server.close();
  });

  it('[V52] the stream of a deleted session emits its deletion and ends', async () => {
    const events = await (await fleet.orchestrate({ agent: 'echo', message: 'Hi' })).all();
    const { session_id: id } = ofType(events, 'request_received')[0]!;
    const reader = await fleet.watch(`/v1/sessions/${id}/fleet`);
    await reader.untilType('done');
    expect((await fleet.call('DELETE', `/v1/sessions/${id}`)).status).toBe(200);
    expect((await reader.all()).at(-1)).toMatchObject({ type: 'over' });
    expect((await fleet.call('GET', `/v1/sessions/${id}/fleet`)).status).toBe(404);
  });

  it('[V53] the text of an agent stays complete after its deltas were removed, also for a reader that received some', async () => {
    const other = await openFleetServer();
    await other.agent('talker', { turns: [[{ think: 'Hm.' }, { say: 'word '.repeat(30), chunks: 30, every_ms: 4 }]] });
    await other.agent('index', {
      turns: [[{ say: `Go.\n${parallel(['talker', 'a'])}` }], [{ say: 'So it is.', every_ms: 9 }]],
    });
    const query = { gate: 'live', include: 'thinking' };
    const before = await (await other.orchestrate({ agent: 'index', message: 'Go' }, { query })).all();
    const { session_id: id } = ofType(before, 'request_received')[0]!;
    await other.server.close();
    const store = await openSqliteStore({ path: `${other.directory}/fleetloom.db` });
    const clock = { now: () => Date.now() + 1_000, steady: () => 0 };
    const workspaces = async () => ['wrkspc_default'];
    const removed = await createRetention({ store, clock, schedule: () => () => {}, keep: 'none', workspaces }).run();
    expect(removed).toBeGreaterThan(5);
    await store.close();
    const again = await openFleetServer({ dataDirectory: other.directory });
    const replay = (after: object) =>
      again
        .watch(`/v1/sessions/${id}/fleet`, { query: { ...query, follow: 'false', ...after } })
        .then((one) => one.all());
    const whole = await replay({});
    expect(whole.length).toBeLessThan(before.length);
    for (const streamId of [0, 1]) expect(textOf(whole, streamId)).toBe(textOf(before, streamId));
    const thoughts = ofType(whole, 'thinking').map(({ delta }) => delta);
    expect(thoughts.join('')).toBe('Hm.');
    for (const [index, { cursor: after }] of before.entries()) {
      const both = [...before.slice(0, index + 1), ...(await replay({ after }))];
      for (const streamId of [0, 1]) expect(textOf(both, streamId)).toBe(textOf(before, streamId));
    }
    await again.close();
    await other.close().catch(() => {});
  });
});

describe('one request', () => {
  it('[V54] an Idempotency-Key starts one run: a repetition watches it from its last event', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(httpLimits.orchestrateKeyCharsMax) };
    const body = { agent: 'talker', message: 'Once' };
    const query = { gate: 'off' };
    const readers = await Promise.all([1, 2, 3].map(() => fleet.orchestrate(body, { headers, query })));
    const streams = await Promise.all(readers.map((reader: FleetReader) => reader.all()));
    const ids = streams.map((events) => ofType(events, 'done')[0]!.request_id);
    expect(new Set(ids).size).toBe(1);
    expect(streams[1]).toEqual(streams[0]);
    const middle = streams[0]![10]!;
    const late = await fleet.orchestrate(body, { headers: { ...headers, 'last-event-id': middle.cursor }, query });
    expect(await late.all()).toEqual(streams[0]!.slice(11));
    await expect(fleet.orchestrate({ ...body, message: 'Twice' }, { headers })).rejects.toThrow(
      /^4\d\d .*Idempotency-Key/,
    );
    for (const key of ['', 'k'.repeat(httpLimits.orchestrateKeyCharsMax + 1)]) {
      const answer = await fleet.call('POST', '/v1/orchestrate', body, { 'idempotency-key': key });
      expect([answer.status, answer.json.error.type]).toEqual([400, 'invalid_request_error']);
    }
  });

  it.each([
    ['turns', { turns: 2 }],
    ['tokens', { tokens: 50 }],
    ['time', { wall_ms: 400 }],
  ])(
    '[V55] a run that has used up its budget of %s ends with budget_reached, and nothing stays open',
    async (name, budget) => {
      const agent = name === 'time' ? 'hanging' : 'echo';
      const turns = Array.from({ length: 9 }, (_, at) => [
        { say: parallel([agent, `task ${at}`], [agent, 'and this']) },
      ]);
      const agent_def = { name: 'master', model: 'scripted/echo', system: toScript({ turns }) };
      const events = await (await fleet.orchestrate({ message: 'Go', agent_def, budget })).all();
      expect(events.at(-1)).toMatchObject({ ok: false, error_code: 'budget_reached', error: 'the budget is used up' });
      const started = ofType(events, 'stream_start').length;
      expect(ofType(events, 'stream_end')).toHaveLength(started);
      expect(ofType(events, 'stream_end').at(-1)).toMatchObject({ stream_id: 0, ok: false });
      const { request_id: id } = ofType(events, 'request_received')[0]!;
      expect((await fleet.call('GET', `/v1/requests/${id}`)).json).toMatchObject({ state: 'failed' });
      if (name === 'turns') expect(ofType(events, 'agent_start').length).toBeLessThanOrEqual(3);
    },
  );

  it('[V56] a run that ends within its budget succeeds', async () => {
    const body = { agent: 'echo', message: 'Hi', budget: { turns: 1, tokens: 100_000, wall_ms: 60_000 } };
    expect((await (await fleet.orchestrate(body)).all()).at(-1)).toMatchObject({ ok: true, content: 'Hi' });
  });

  it('[V57] an agent can be sent with the request: it is not stored, and may delegate to agents of the workspace', async () => {
    const before = (await fleet.call('GET', '/v1/agents?limit=100')).json.data.length;
    const events = await (await play([[{ say: '/agent echo hello' }], [{ say: 'Done.' }]])).all();
    expect(ofType(events, 'stream_start').map(({ agent }) => agent)).toEqual(['master', 'echo']);
    expect((await fleet.call('GET', '/v1/agents?limit=100')).json.data).toHaveLength(before);
    const agent_def = { name: 'master', model: 'scripted/echo', tools: [{ type: 'nonsense' }] };
    expect((await fleet.call('POST', '/v1/orchestrate', { message: 'Go', agent_def })).status).toBe(400);
  });

  it('[V58] an agent with a roster may delegate only to it, by name or id; one without, to every agent', async () => {
    const echo = (await fleet.call('GET', '/v1/agents?limit=100')).json.data.find(
      ({ name }: { name: string }) => name === 'echo',
    );
    const script = {
      turns: [[{ say: `/agent ${echo.id} one\n\n/agent talker two\n` }], [{ say: 'received {{last_user}}' }]],
    };
    const multiagent = { type: 'coordinator', agents: [{ type: 'agent', id: echo.id }] };
    const id = await fleet.agent('narrow', script, { multiagent });
    const events = await (await fleet.orchestrate({ agent: id, message: 'Go' })).all();
    expect(ofType(events, 'stream_start').map(({ agent }) => agent)).toEqual(['narrow', 'echo']);
    expect(textOf(events, 0)).toContain('ERR: there is no agent "talker"');
  });

  it('[V91] an agent is found by id or name among any number, and may delegate to the newest up to the limit', async () => {
    const other = await openFleetServer();
    const script = {
      turns: [[{ say: '/agent helper_0 go\n\n/agent helper_1 go\n' }], [{ say: 'received {{last_user}}' }]],
    };
    const id = await other.agent('oldest', script);
    for (let at = 0; at <= httpLimits.rosterMax; at++) await other.agent(`helper_${at}`);
    for (const agent of [id, 'oldest']) {
      const events = await (await other.orchestrate({ agent, message: 'Go' })).all();
      // The first helper is over the limit.
      expect(ofType(events, 'stream_start').map(({ agent: name }) => name)).toEqual(['oldest', 'helper_1']);
      expect(textOf(events, 0)).toContain('ERR: there is no agent "helper_0"');
    }
    await other.close();
  });

  it('[V59] a message may have images, and original_query is stored with the session', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
    const message = [{ type: 'text', text: 'What is this?' }, image];
    const query = 'q'.repeat(httpLimits.metadataValueCharsMax);
    const events = await (await fleet.orchestrate({ agent: 'echo', message, original_query: query })).all();
    expect(events[0]).toMatchObject({ message: 'What is this?' });
    expect(events.at(-1)).toMatchObject({ ok: true });
    const { session_id: id } = ofType(events, 'request_received')[0]!;
    const session = (await fleet.call('GET', `/v1/sessions/${id}`)).json;
    expect(session.metadata).toMatchObject({ original_query: query, started_by: 'orchestrate' });
    const sent = (await fleet.call('GET', `/v1/sessions/${id}/events?limit=10`)).json.data;
    expect(sent.find(({ type }: { type: string }) => type === 'user.message').content).toEqual(message);
    const bodies = [
      { agent: 'echo', message: '' },
      { agent: 'echo', message: [] },
      { agent: 'echo' },
      { agent: 'echo', message: 'x', original_query: `${query}q` },
      { agent: 'echo', message: 'x', budget: { turns: 0 } },
    ];
    for (const body of bodies) expect((await fleet.call('POST', '/v1/orchestrate', body)).status).toBe(400);
  });

  it('[V60] files that an agent writes are emitted and counted', async () => {
    const tools = [{ type: 'agent_toolset_20260401' }];
    const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
    const events = await (
      await play([[write('a.txt', 'é'), write('b.txt', 'zzz')], [{ say: 'Done.' }]], { tools })
    ).all();
    expect(ofType(events, 'tool_start').map(({ tool }) => tool)).toEqual(['write', 'write']);
    expect(ofType(events, 'tool_call').map(({ ok }) => ok)).toEqual([true, true]);
    const files = ofType(events, 'file').toSorted((one, other) => one.path.localeCompare(other.path));
    expect(files).toMatchObject([
      { path: 'a.txt', size: 2, content: 'é', encoding: 'utf-8' },
      { path: 'b.txt', size: 3 },
    ]);
    expect(events.at(-1)).toMatchObject({ files_bytes: 5 });
  });

  it('[V61] approvals at any depth are emitted, and so are their decisions', async () => {
    const tools = [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }];
    const writer = { turns: [[{ call: 'write', input: { file_path: 'x', content: 'x' } }], [{ say: 'ok' }]] };
    await fleet.agent('writer', writer, { tools });
    const reader = await play([[{ say: parallel(['writer', 'a'], ['writer', 'b']) }], [{ say: 'Done.' }]]);
    await reader.met(() => ofType(reader.events, 'approval_required').length === 2);
    const [first, second] = ofType(reader.events, 'approval_required');
    expect(first).toMatchObject({ tool: 'write', depth: 1, input: { file_path: 'x' } });
    const answer = (id: string, result: string) => ({ type: 'user.tool_confirmation', tool_use_id: id, result });
    await fleet.call('POST', `/v1/sessions/${first!.session_id}/events`, {
      events: [answer(first!.tool_use_id, 'allow'), answer(second!.tool_use_id, 'deny')],
    });
    const events = await reader.all();
    expect(ofType(events, 'approval_resolved').map(({ stream_id, result }) => [stream_id, result])).toEqual([
      [first!.stream_id, 'allow'],
      [second!.stream_id, 'deny'],
    ]);
    const calls = ofType(events, 'tool_call').filter(({ tool }) => tool === 'write');
    expect(new Map(calls.map(({ stream_id, ok }) => [stream_id, ok]))).toEqual(
      new Map([
        [first!.stream_id, true],
        [second!.stream_id, false],
      ]),
    );
  });
});
