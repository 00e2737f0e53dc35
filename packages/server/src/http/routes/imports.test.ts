import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { httpLimits } from '../limits.ts';
import { sessionLimits } from '../../sessions/core/limits.ts';
import { Database } from '../../store/sqlite/database.ts';
import { type TestServer, withServer } from '../../../../../test/server/server.suite.ts';

interface Answer {
  readonly session_id: string;
  readonly lines: Record<string, number>;
  readonly taken: number;
}

it('[J160] imported steps become events of a session with their original times', async () => {
  await withServer(async (test) => {
    const { status, body } = await post(test, {
      steps: [said(1, 'Hi'), ...spoken(2, 'Hello'), ended(2)],
      is_end: true,
    });
    expect([status, body.taken, body.lines]).toEqual([200, 5, { main: 2 }]);
    const events = await eventsOf(test, body.session_id);
    expect(events.map(({ type }) => type)).toEqual([
      'session.status_running',
      'session.thread_status_running',
      'user.message',
      'span.model_request_start',
      'agent.message',
      'span.model_request_end',
      'session.thread_status_idle',
      'session.usage',
      'session.status_idle',
    ]);
    expect(new Set(events.map((event) => event['processed_at']))).toEqual(
      new Set(['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.000Z']),
    );
  });
});

it('[H141] a line that brings more than 30 MiB is a 413, and one of 20 MiB is accepted', async () => {
  await withServer(async (test) => {
    const half = 'x'.repeat(sessionLimits.contentBytesMax / 2);
    const same = [said(1, half), { ...said(1, half), event: said(2, half).event }];
    const refused = await post(test, { steps: same, is_end: true });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      413,
      expect.stringContaining('line 1 of main has'),
    ]);
    const taken = await post(test, { steps: [said(1, 'x'.repeat(20 * 1024 * 1024))], is_end: true });
    expect([taken.status, taken.body.lines]).toEqual([200, { main: 1 }]);
  });
}, 60_000);

it('[J161] steps that are sent again are skipped, also by concurrent requests', async () => {
  await withServer(async (test) => {
    const conversation = randomUUID();
    const steps = [said(1, 'Hi'), ...spoken(2, 'Hello'), ended(2)];
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post(test, { conversation, steps, is_end: true })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.session_id)).size).toBe(1);
    expect(answers.map(({ body }) => body.taken).sort((a, b) => b - a)).toEqual([5, 0, 0, 0, 0]);
    const { body } = await post(test, { conversation, steps: [...steps, said(3, 'More')], is_end: false });
    expect(body.taken).toBe(1);
    const texts = (await eventsOf(test, body.session_id)).filter(({ type }) => type === 'user.message');
    expect(texts).toHaveLength(2);
  });
});

it('[J162] a turn that was considered ended continues with later steps, and one that never ended is stopped', async () => {
  await withServer(async (test) => {
    const conversation = randomUUID();
    await post(test, { conversation, steps: [said(1, 'Hi'), ...spoken(2, 'Hello'), ended(2)], is_end: true });
    const late = await post(test, { conversation, steps: [...spoken(3, 'And more')], is_end: false });
    const session = () => test.client.beta.sessions.retrieve(late.body.session_id);
    expect((await session()).status).toBe('running');
    await post(test, { conversation, steps: [said(4, 'Stop, something else')], is_end: false });
    const idle = (await eventsOf(test, late.body.session_id)).filter(({ type }) => type === 'session.status_idle');
    expect(idle).toHaveLength(2);
    expect((await session()).status).toBe('running');
  });
});

it('[J163] an imported session becomes idle when its importer stops, and continues when steps are sent again', async () => {
  await withServer(async (test) => {
    const conversation = randomUUID();
    const { body } = await post(test, { conversation, steps: [said(1, 'Hi')], is_end: false });
    // The lease of the importer, which outlives the server, is over.
    await test.server.close();
    const database = await Database.open(join(test.directory, 'fleetloom.db'));
    database.exec('UPDATE owners SET expires_at = 0');
    database.close();
    const again = await test.restart();
    const status = async () => (await again.client.beta.sessions.retrieve(body.session_id)).status;
    await expect.poll(status, { timeout: 30_000 }).toBe('idle');
    const seen = JSON.stringify(await eventsOf(again, body.session_id));
    expect(seen).toContain('no client follows this session any more');
    await expect
      .poll(async () => (await post(again, { conversation, steps: spoken(2, 'Still here') })).status, {
        timeout: 30_000,
      })
      .toBe(200);
    expect(await status()).toBe('running');
  });
});

it('[J164] many steps are written in several commits, each with whole lines', async () => {
  await withServer(async (test) => {
    const lines = Math.ceil(sessionLimits.importFramesMax / 2);
    const steps = [said(1, 'Hi'), ...Array.from({ length: lines }, (_, at) => spoken(at + 2, `Word ${at}`)).flat()];
    const { body } = await post(test, { steps, is_end: true });
    expect(body).toMatchObject({ taken: steps.length, lines: { main: lines + 1 } });
    const words: string[] = [];
    for await (const event of test.client.beta.sessions.events.list(body.session_id, { limit: 1000 })) {
      if (event.type === 'agent.message') words.push(JSON.stringify(event.content));
    }
    expect(words).toHaveLength(lines);
    expect(words.at(-1)).toContain(`Word ${lines - 1}`);
  });
});

it('[H83] agents and calls may be named like inherited properties of objects, and are counted like any other', () =>
  withServer(async (test) => {
    for (const name of ['__proto__', 'constructor', 'toString', 'valueOf']) {
      const by = (key: string, line: number, event: object) => ({ ...at(line, event), key });
      const steps = [
        said(1, 'Hi'),
        by('main', 2, { type: 'request_started', model: 'm' }),
        by('main', 2, { type: 'call', call_id: name, name, input: { [`${name}s`]: name } }),
        by('main', 2, {
          type: 'thread_opened',
          parent_key: 'main',
          agent_name: name,
          description: null,
          prompt: null,
          call_id: name,
        }),
        // `thread_opened` names the agent by its tool call.
        by(name, 1, { type: 'thread_started', prompt: null }),
      ];
      const { status, body } = await post(test, { conversation: name, steps, is_end: false });
      expect([name, status, Object.entries(body.lines).find(([key]) => key === name)]).toEqual([name, 200, [name, 1]]);
      const again = await post(test, { conversation: name, steps, is_end: true });
      expect([again.body.session_id, again.body.taken]).toEqual([body.session_id, 0]);
    }
  }));

it('[H83] a field __proto__ is refused, escaped or not, instead of being lost', () =>
  withServer(async ({ url, key }) => {
    const create = async (metadata: string) => {
      const body = `{"name":"a","model":"scripted/echo","metadata":${metadata}}`;
      const headers = { 'x-api-key': key };
      const answer = await fetch(`${url}/v1/agents`, { method: 'POST', headers, body });
      return { status: answer.status, body: (await answer.json()) as { metadata: object } };
    };
    for (const metadata of ['{"__proto__":"x"}', '{"\\u005f_proto__":"x"}', '{"__proto\\u005F\\u005f":{}}']) {
      expect([metadata, (await create(metadata)).status]).toEqual([metadata, 400]);
    }
    const kept = { constructor: '__proto__', toString: 'b', hasOwnProperty: '"__proto__":' };
    expect((await create(JSON.stringify(kept))).body.metadata).toEqual(kept);
  }));

it('[J165] a malformed step is refused with its position', async () => {
  await withServer(async (test) => {
    const many = Array.from({ length: httpLimits.importStepsMax + 1 }, (_, at) => said(at + 1, 'x'));
    const bad: [object, string][] = [
      [{ steps: many }, 'steps'],
      [{ steps: [{ ...said(0, 'x') }] }, 'steps.0.line'],
      [{ steps: [{ ...said(1, 'x'), time: 'yesterday' }] }, 'steps.0.time'],
      [{ steps: [{ ...said(1, 'x'), event: { type: 'magic' } }] }, 'steps.0.event'],
      [{ conversation: 'x'.repeat(httpLimits.importNameCharsMax + 1) }, 'conversation'],
      [{ program: 'other' }, 'program'],
      [{ unknown: 1 }, 'unknown'],
    ];
    for (const [body, where] of bad) {
      const { status, text } = await post(test, body);
      expect([status, text]).toEqual([400, expect.stringContaining(where)]);
    }
    const edge = await post(test, { steps: many.slice(1), conversation: 'x'.repeat(httpLimits.importNameCharsMax) });
    expect(edge.status).toBe(200);
    const closed = await fetch(`${test.url}/v1/imports`, { method: 'POST', body: '{}' });
    expect(closed.status).toBe(401);
  });
}, 60_000);

it('[J166] an imported session refuses every kind of message', async () => {
  await withServer(async (test) => {
    const { body } = await post(test, { steps: [said(1, 'Hi')], is_end: true });
    const events = [{ type: 'user.message' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];
    await expect(test.client.beta.sessions.events.send(body.session_id, { events })).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('can only be read'),
    });
    const stop = [{ type: 'user.interrupt' as const }];
    await expect(test.client.beta.sessions.events.send(body.session_id, { events: stop })).rejects.toMatchObject({
      status: 409,
    });
    await test.client.beta.sessions.archive(body.session_id);
    expect((await test.client.beta.sessions.retrieve(body.session_id)).archived_at).not.toBeNull();
  });
});

async function post(test: TestServer, body: object): Promise<{ status: number; body: Answer; text: string }> {
  const whole = {
    program: 'claude-code',
    conversation: randomUUID(),
    title: null,
    directory: null,
    version: null,
    steps: [],
    is_end: false,
    ...body,
  };
  const headers = { 'x-api-key': test.key, 'content-type': 'application/json' };
  const response = await fetch(`${test.url}/v1/imports`, { method: 'POST', headers, body: JSON.stringify(whole) });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as Answer };
}

async function eventsOf(test: TestServer, sessionId: string): Promise<readonly Record<string, unknown>[]> {
  const { data } = await test.client.beta.sessions.events.list(sessionId, { limit: 1000 });
  // Events of all types: tests read their common fields.
  return data as unknown as Record<string, unknown>[];
}

function said(line: number, text: string) {
  return at(line, { type: 'said', content: [{ type: 'text', text }] });
}

/** A model request with one block. */
function spoken(line: number, text: string) {
  const usage = {
    input_tokens: 10,
    output_tokens: 2,
    cache_read_input_tokens: 0,
    cache_creation_5m_input_tokens: 0,
    cache_creation_1h_input_tokens: 0,
  };
  return [
    at(line, { type: 'request_started', model: 'claude-x' }),
    at(line, { type: 'block', content: { type: 'text', text } }),
    at(line, { type: 'request_ended', model: 'claude-x', usage, stop_reason: 'end_turn', is_error: false }),
  ];
}

function ended(line: number) {
  return at(line, { type: 'turn_ended', outcome: { type: 'done' } });
}

function at(line: number, event: object) {
  return { key: 'main', line, time: new Date(Date.UTC(2026, 0, 1) + line * 1000).toISOString(), event };
}
