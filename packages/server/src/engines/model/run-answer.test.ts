import { expect, it } from 'vitest';
import type { Json } from '../../base/json/json.ts';
import type { EngineEvent } from './engine.ts';
import { unexpectedFailure } from './failures.ts';
import { runAnswer } from './run-answer.ts';
import { collect, failureOf, finishedOf, never } from './suite/send-request.suite.ts';

const answer: Json[] = [
  { type: 'message_start', message: { model: 'm', usage: {} } },
  // Two events at once: the block, and what it begins with.
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
];

it('[N9] the signal also counts between two events that came at once', async () => {
  const controller = new AbortController();
  const events: EngineEvent[] = [];
  for await (const event of run(fromList(answer), controller.signal)) {
    events.push(event);
    if (event.type === 'block_started') controller.abort();
  }
  expect(events.map(({ type }) => type)).toEqual(['block_started', 'failed']);
  expect(failureOf(events).reason).toBe('interrupted');
});

it('[N42] usage is reported as soon as it is known, and with the failure when the request is stopped', async () => {
  const reported: unknown[] = [];
  const controller = new AbortController();
  const begun = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 9, output_tokens: 1 } } };
  const source = {
    model: 'm',
    open: fromList([begun, ...answer.slice(1)]),
    classify: unexpectedFailure,
    onUsage: (usage: { readonly inputTokens: number }) => reported.push(usage.inputTokens),
  };
  const events: EngineEvent[] = [];
  for await (const event of runAnswer(source, [controller.signal])) {
    events.push(event);
    if (event.type === 'block_started') controller.abort();
  }
  expect(reported).toEqual([9]);
  expect(events.at(-1)).toMatchObject({ type: 'failed', usage: { inputTokens: 9, outputTokens: 1 } });
});

it('[N1] nothing is thrown, whatever the source throws and whenever', async () => {
  const boom = () => {
    throw new Error('boom');
  };
  expect(failureOf(await collect(run(boom, never)))).toMatchObject({ reason: 'unknown', message: 'boom' });
  for (const length of answer.keys()) {
    const events = await collect(run(fromList(answer.slice(0, length), boom), never));
    expect(failureOf(events).message).toBe('boom');
    expect(events.filter(({ type }) => type === 'failed')).toHaveLength(1);
  }
});

it('[N1] after its last event an answer is over, also for a source that continues', async () => {
  let isLeft = false;
  const events = await collect(
    run(async function* () {
      try {
        for (;;) yield* answer;
      } finally {
        isLeft = true;
      }
    }, never),
  );
  expect(finishedOf(events).content).toEqual([{ type: 'text', text: 'Hi' }]);
  expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1);
  expect(isLeft).toBe(true);
});

it('[N9] a source that ignores the signal and fails in the end causes no unhandled error', async () => {
  let fail: (error: Error) => void = () => undefined;
  const controller = new AbortController();
  const reading = collect(
    run(async function* (): AsyncGenerator<Json> {
      yield await new Promise<Json>((_, reject) => {
        fail = reject;
      });
    }, controller.signal),
  );
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  expect(failureOf(await reading).reason).toBe('interrupted');
  fail(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});

function run(open: () => AsyncIterable<Json>, signal: AbortSignal): AsyncIterable<EngineEvent> {
  return runAnswer({ model: 'm', open, classify: unexpectedFailure }, [signal]);
}

function fromList(events: readonly Json[], end: () => void = () => undefined) {
  return async function* (): AsyncGenerator<Json> {
    yield* events;
    end();
  };
}
