import { describe, expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { baseLimits } from '../base/limits.ts';
import { sessionLimits } from './core/limits.ts';
import type { EngineEvent, EngineFailure } from '../engines/model/engine.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { toRetryDelay } from './runtime/retry-delay.ts';
import {
  createGate,
  delegates,
  type Fleet,
  interruption,
  lead,
  message,
  openFleet,
  result,
  sends,
  solo,
  workspaceId,
} from './suite/fleet.suite.ts';
import { createPlainEngine, someUsage } from './suite/plain-engine.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';

onEachStore((openStore) => {
  it('[R80] a request that may succeed later is retried after a wait, in which no thread is running', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const id = await fleet.begin(solo, { turns: [[{ fail: { status: 529, retry_after_s: 0 } }, { say: 'Better.' }]] });
    await fleet.rest(id);
    expect((await fleet.story(id)).slice(6)).toEqual([
      'solo model_request_start',
      'solo model_request_end error',
      'solo error retrying',
      'solo thread_status_rescheduled',
      'session status_rescheduled',
      'solo turn.retried',
      'session status_running',
      'solo thread_status_running',
      'solo model_request_start',
      'solo message',
      'solo model_request_end',
      'solo turn.ended end_turn',
      'solo thread_status_idle end_turn',
      'session run.ended end_turn',
      'session usage',
      'session status_idle end_turn',
    ]);
    expect(await fleet.payloads(id, 'session.error')).toMatchObject([
      { error: { type: 'model_overloaded_error', reason: 'overloaded' } },
    ]);
  });

  it('[R81] a turn that failed finally is over, pending messages are dropped, and the next message begins another', async () => {
    const gate = createGate();
    const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
    const fleet = await openFleet({ store: await openStore(), tools: { wait } });
    const when = [
      { match: 'Again', turn: [{ say: 'Fine.' }] },
      { match: 'waited', turn: [{ fail: { status: 400 } }] },
    ];
    const id = await fleet.begin(solo, { when, else: [{ call: 'wait' }] });
    await fleet.until(id, ({ type }) => type === 'tool.started');
    const [first, second] = await fleet.send(id, message('one'), message('two'));
    await fleet.until(id, (frame) => frame.type === 'user.message' && frame.payload.id === second!.id);
    gate.open();
    const { seq } = await fleet.rest(id);
    expect((await fleet.story(id)).slice(-8)).toEqual([
      'solo model_request_end error',
      'solo error exhausted',
      'solo turn.flushed',
      'solo turn.ended error',
      'solo thread_status_idle retries_exhausted',
      'session run.ended error',
      'session usage',
      'session status_idle retries_exhausted',
    ]);
    expect(await fleet.payloads(id, 'turn.flushed')).toEqual([{ message_ids: [first!.id, second!.id] }]);
    await fleet.send(id, message('Again'));
    await fleet.rest(id, seq);
    expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([false, true]);
  });

  it('[R82] a child that fails finally is terminated, its parent gets a report, and its siblings finish', async () => {
    const ended: string[] = [];
    const fleet = await openFleet({ store: await openStore(), onThreadEnd: (thread) => ended.push(thread) });
    const tasks = [{ turns: [[{ fail: { status: 400, message: 'no' } }]] }, { turns: [[{ say: 'Fine.' }]] }];
    const id = await fleet.begin(lead, {
      turns: [
        [delegates(...tasks)],
        [{ expect: { tool_result: ['ERR: worker did not finish', 'Fine.'] } }, { say: 'Done.' }],
      ],
    });
    await fleet.rest(id);
    const story = await fleet.story(id);
    const failed = story.filter((line) => line.startsWith('worker '));
    expect(failed.slice(failed.indexOf('worker error exhausted'))).toEqual([
      'worker error exhausted',
      'worker thread_message_sent',
      'worker turn.ended error',
      'worker thread_status_idle retries_exhausted',
      'worker thread_status_terminated',
    ]);
    const child = [...(await fleet.state(id)).threads.keys()][1]!;
    expect(ended).toEqual([child]);
    expect(await fleet.store.threads.get(id, child)).toMatchObject({ status: 'terminated', archivedAt: null });
    expect((await fleet.payloads(id, 'turn.ended')).filter(({ ok }) => ok)).toHaveLength(2);
    expect(await fleet.payloads(id, 'session.status_idle')).toMatchObject([{ stop_reason: { type: 'end_turn' } }]);
  });

  it('[R83] when no turn can ever work again the session ends, with everything in it', async () => {
    const failure = { reason: 'authentication', message: 'gone', consequence: 'session', retryAfterMs: null } as const;
    const fleet = await openFleet({
      store: await openStore(),
      engine: createPlainEngine(({ thread, messages }, signal) => {
        if (thread.agentName === 'lead') {
          const tasks = ['hang', 'ask', 'fail'].map((text) => ({ agent: 'worker', message: text }));
          return {
            content: [{ type: 'tool_use', id: 'toolu_1', name: 'delegate', input: { tasks } }],
            reason: 'tool_use',
          };
        }
        const task = JSON.stringify(messages);
        if (task.includes('ask'))
          return { content: [{ type: 'tool_use', id: 'toolu_1', name: 'ask', input: {} }], reason: 'tool_use' };
        return task.includes('hang') ? waitFor(signal) : failLater(failure);
      }),
      tools: { ask: { kind: 'builtin', permission: 'ask' } },
    });
    const id = await fleet.begin(lead, 'Go');
    await fleet.rest(id);
    const story = await fleet.story(id);
    expect(story.slice(story.indexOf('worker#3 error terminal'))).toEqual([
      'worker#3 error terminal',
      'worker model_request_end error',
      'worker turn.ended error',
      'worker thread_status_terminated',
      'worker#2 tool_result interrupted',
      'worker#2 turn.ended error',
      'worker#2 thread_status_terminated',
      'worker#3 turn.ended error',
      'worker#3 thread_status_terminated',
      'lead tool_result interrupted',
      'lead turn.ended error',
      'lead thread_status_terminated',
      'session run.ended error',
      'session status_terminated',
    ]);
    await expect(fleet.send(id, message('Hello?'))).rejects.toMatchObject({ code: 'session_terminated' });
    const { items } = await fleet.store.approvals.list({ workspaceId, sessionId: id, isPending: true, limit: 10 });
    expect(items).toEqual([]);
    expect(await fleet.sessions.archive(workspaceId, id)).toMatchObject({
      status: 'terminated',
      archivedAt: expect.any(Number),
    });
    await expect(fleet.send(id, message('Hello?'))).rejects.toMatchObject({ code: 'session_archived' });
  });
});

describe('waits between attempts', () => {
  it('[R84] a request has a limited number of retries, each after twice the delay, and then the turn fails', async () => {
    const { fleet, id, waits } = await failing({
      reason: 'overloaded',
      message: 'no',
      consequence: 'retry',
      retryAfterMs: null,
    });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
    expect(waits).toHaveLength(baseLimits.requestRetriesMax);
    expect(await fleet.payloads(id, 'span.model_request_start')).toHaveLength(1 + baseLimits.requestRetriesMax);
    expect((await fleet.payloads(id, 'session.error')).map(({ retry }) => retry)).toEqual([
      ...waits.map(() => 'retrying'),
      'exhausted',
    ]);
  });

  it('[R85] a retry waits as long as the endpoint requests', async () => {
    const { waits } = await failing({
      reason: 'rate_limited',
      message: 'no',
      consequence: 'retry',
      retryAfterMs: 70_000,
    });
    expect(waits).toEqual([70_000, 70_000, 70_000, 70_000, 70_000]);
  });

  it('[R86] a wait doubles up to the longest, and chance takes off up to a quarter', () => {
    const waits = Array.from({ length: 9 }, (_, failures) => toRetryDelay(failures, () => 0));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect([waits[0], waits.at(-1)]).toEqual([sessionLimits.retryDelayMs, sessionLimits.retryDelayMsMax]);
    expect(toRetryDelay(0, () => 0.999_999)).toBe(375);
    expect(toRetryDelay(20, () => 0.5)).toBe(26_250);
  });

  it('[R92] a timer that goes off late does not cut a later wait short', async () => {
    const clock = createManualClock(1_000);
    const time = createManualSchedule(clock);
    const schedule = (...args: Parameters<typeof time.schedule>) => (time.schedule(...args), () => {});
    const failure: EngineFailure = { reason: 'overloaded', message: 'no', consequence: 'retry', retryAfterMs: 1_000 };
    const fleet = await openFleet({ clock, schedule, engine: createPlainEngine(() => failLater(failure)) });
    const id = await fleet.begin(solo, 'one');
    const { seq } = await fleet.until(id, ({ type }) => type === 'session.status_rescheduled');
    time.advance(500);
    await fleet.send(id, interruption(), message('two'));
    await fleet.until(id, ({ type }) => type === 'session.thread_status_rescheduled', seq);
    time.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await fleet.state(id)).status).toBe('rescheduling');
    expect(await fleet.types(id)).not.toContain('turn.retried');
    time.advance(500);
    await fleet.until(id, ({ type }) => type === 'turn.retried');
  });

  it('[R87] a model response in between resets the count of failures', async () => {
    const fail: EngineFailure = { reason: 'overloaded', message: 'no', consequence: 'retry', retryAfterMs: 0 };
    let requests = 0;
    const engine = createPlainEngine(() => {
      requests++;
      if (requests % (baseLimits.requestRetriesMax + 1) !== 0) return failLater(fail);
      const isLast = requests > 12;
      return isLast
        ? {}
        : { content: [{ type: 'tool_use', id: `toolu_${requests}`, name: 'bash', input: {} }], reason: 'tool_use' };
    });
    const fleet = await openFleet({ engine, tools: { bash: { kind: 'builtin' } } });
    const id = await fleet.begin(solo, 'Go');
    await fleet.rest(id);
    expect(requests).toBe(18);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
  });
});

it.each<[EngineFailure['reason'], string]>([
  ['overloaded', 'model_overloaded_error'],
  ['rate_limited', 'model_rate_limited_error'],
  ['billing', 'billing_error'],
  ['unknown', 'unknown_error'],
  ['authentication', 'model_request_failed_error'],
  ['connection_lost', 'model_request_failed_error'],
])('[R88] a failure has a typed reason: %s is %s on the wire', async (reason, type) => {
  const failure: EngineFailure = { reason, message: 'because', consequence: 'turn', retryAfterMs: null };
  const fleet = await openFleet({ engine: createPlainEngine(() => failLater(failure)) });
  const id = await fleet.begin(solo, 'Go');
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'session.error')).toMatchObject([
    { error: { type, message: 'because', reason }, retry: 'exhausted' },
  ]);
});

it('[I6] a toolbox that throws fails the turn, and the session lives on', async () => {
  let isBroken = true;
  const onOffer = () => {
    if (isBroken) throw new Error('no tools today');
  };
  const fleet = await openFleet({ onOffer });
  const id = await fleet.begin(solo, 'one');
  const { seq } = await fleet.rest(id);
  expect(await fleet.payloads(id, 'session.error')).toMatchObject([
    { retry: 'exhausted', error: { type: 'unknown_error', message: 'no tools today' } },
  ]);
  isBroken = false;
  await fleet.send(id, message('two'));
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([false, true]);
  expect(fleet.problems).toEqual([]);
});

it('[I6] an engine that throws fails the turn, and the session lives on', async () => {
  let requests = 0;
  const engine = createPlainEngine(() => {
    if (++requests === 1) throw new Error('broken at once');
    return requests === 2 ? throwLater() : {};
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(solo, 'one');
  const one = await fleet.rest(id);
  await fleet.send(id, message('two'));
  const two = await fleet.rest(id, one.seq);
  await fleet.send(id, message('three'));
  await fleet.rest(id, two.seq);
  const errors = await fleet.payloads(id, 'session.error');
  expect(errors.map(({ error }) => error.message)).toEqual(['broken at once', 'broken in the middle']);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([false, false, true]);
  expect(fleet.problems).toEqual([]);
});

it('[I6] an engine that ends without a response is called again', async () => {
  let requests = 0;
  const engine = createPlainEngine(() => (++requests === 1 ? silence() : {}));
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(solo, 'Go');
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'session.error')).toMatchObject([
    { retry: 'retrying', error: { message: 'the engine ended without an answer' } },
  ]);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R89] a model response that breaks off is void: its text is not in the history, and is requested again', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, {
    turns: [[{ say: 'Half an answer' }, { cut: { times: 1 } }, { say: ' and the rest.' }]],
  });
  await fleet.rest(id);
  const messages = await fleet.payloads(id, 'agent.message');
  expect(messages.flatMap(({ content }) => content.map(({ text }) => text)).join('')).toBe(
    'Half an answer and the rest.',
  );
  const started = await fleet.payloads(id, 'delta.started');
  expect(new Set(started.map(({ id: event }) => event)).size).toBe(started.length);
  expect(await fleet.payloads(id, 'span.model_request_end')).toMatchObject([{ is_error: true }, { is_error: false }]);
});

it('[R90] messages between threads survive a failed turn of the coordinator: they are delivered with the next one', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const fleet = await openFleet({ tools: { wait } });
  const when = [
    { match: 'And', turn: [{ expect: { contains: 'Report.' } }, { say: 'Fine.' }] },
    { match: 'waited', turn: [{ fail: { status: 400 } }] },
  ];
  const id = await fleet.begin(lead, { when, else: [sends({ turns: [[{ say: 'Report.' }]] }), { call: 'wait' }] });
  await fleet.until(id, ({ type, turn }) => type === 'agent.thread_message_received' && turn?.depth === 0);
  gate.open();
  const { seq } = await fleet.rest(id);
  expect((await fleet.story(id)).at(-1)).toBe('session status_idle retries_exhausted');
  await fleet.send(id, message('And?'));
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'turn.ended')).at(-1)).toMatchObject({ ok: true });
});

it('[R91] tokens that a failed request used are counted', async () => {
  const failure: EngineFailure = { reason: 'billing', message: 'no', consequence: 'turn', retryAfterMs: null };
  const fleet = await openFleet({ engine: createPlainEngine(() => failLater(failure)), costNanoUsd: 11 });
  const id = await fleet.begin(solo, 'Go');
  await fleet.rest(id);
  expect((await fleet.state(id)).usage).toMatchObject({ input_tokens: 10, output_tokens: 5, cost_nano_usd: 11 });
});

async function* failLater(failure: EngineFailure): AsyncGenerator<EngineEvent> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  yield { type: 'failed', failure, usage: someUsage };
}

// oxlint-disable-next-line require-yield
async function* throwLater(): AsyncGenerator<EngineEvent> {
  await Promise.resolve();
  throw new Error('broken in the middle');
}

async function* silence(): AsyncGenerator<EngineEvent> {}

async function* waitFor(signal: AbortSignal): AsyncGenerator<EngineEvent> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  yield {
    type: 'failed',
    failure: { reason: 'interrupted', message: '', consequence: 'turn', retryAfterMs: null },
    usage: null,
  };
}

/** A session whose requests all fail, on time that goes on as far as it waits. */
async function failing(failure: EngineFailure): Promise<{ fleet: Fleet; id: string; waits: number[] }> {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const fleet = await openFleet({
    clock,
    schedule: time.schedule,
    engine: createPlainEngine(() => failLater(failure)),
  });
  const id = await fleet.begin(solo, 'Go');
  const waits: number[] = [];
  for (let head = 0; ; ) {
    const error = await fleet.until(id, ({ type }) => type === 'session.error', head);
    if (error.type !== 'session.error' || error.payload.retry_at === null) break;
    waits.push(error.payload.retry_at - clock.now());
    head = error.seq;
    await fleet.until(id, ({ type }) => type === 'session.status_rescheduled', head);
    time.advance(waits.at(-1)! - 1);
    expect((await fleet.state(id)).status).toBe('rescheduling');
    time.advance(1);
  }
  await fleet.rest(id);
  return { fleet, id, waits };
}
