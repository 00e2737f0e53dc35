import { expect, it } from 'vitest';
import {
  ask,
  asking,
  type CreateEngine,
  failureOf,
  findDisorder,
  finishedOf,
  said,
  useEngine,
} from './send-request.suite.ts';

export function failuresSuite(createEngine: CreateEngine): void {
  const tested = useEngine(createEngine);

  it.each<[fail: { status: number; message?: string; retry_after_s?: number }, string, string, number | null]>([
    [{ status: 429, retry_after_s: 7 }, 'rate_limited', 'retry', 7_000],
    [{ status: 429 }, 'rate_limited', 'retry', null],
    [{ status: 529 }, 'overloaded', 'retry', null],
    [{ status: 500 }, 'request_failed', 'retry', null],
    [{ status: 503, retry_after_s: 2 }, 'request_failed', 'retry', 2_000],
    [{ status: 408 }, 'request_failed', 'retry', null],
    [{ status: 409 }, 'request_failed', 'retry', null],
    [{ status: 400 }, 'request_failed', 'turn', null],
    [{ status: 400, message: 'prompt is too long: 200001 tokens > 200000 maximum' }, 'context_exceeded', 'turn', null],
    [{ status: 400, message: 'Your credit balance is too low to access the API' }, 'billing', 'turn', null],
    [{ status: 401 }, 'authentication', 'turn', null],
    [{ status: 402 }, 'billing', 'turn', null],
    [{ status: 403 }, 'authentication', 'turn', null],
    [{ status: 404 }, 'request_failed', 'turn', null],
    [{ status: 413 }, 'context_exceeded', 'turn', null],
    [{ status: 422 }, 'request_failed', 'turn', null],
  ])(
    '[N7] a refused request is a failure that states what to do: %j',
    async (fail, reason, consequence, retryAfterMs) => {
      const events = await ask(tested.engine, asking([{ fail }, { say: 'never' }]));
      expect(events).toHaveLength(1);
      expect(failureOf(events)).toMatchObject({ reason, consequence, retryAfterMs });
      expect(failureOf(events).message).toContain(String(fail.status));
      if (fail.message !== undefined) expect(failureOf(events).message).toContain(fail.message);
      expect(events[0]).toMatchObject({ usage: null });
    },
  );

  it('[N7] an unknown model is a failure of the turn', async () => {
    const request = asking([], { model: { id: 'scripted/not-a-script', effort: null, speed: 'standard' } });
    const events = await ask(tested.engine, { ...request, messages: [said('Hello')] });
    expect(failureOf(events)).toMatchObject({ reason: 'request_failed', consequence: 'turn' });
    expect(failureOf(events).message).toContain('not-a-script');
  });

  it('[N7] the same request works when it is repeated', async () => {
    const request = asking([{ fail: { status: 529, times: 2 } }, { say: 'At last.' }]);
    expect(failureOf(await ask(tested.engine, request)).reason).toBe('overloaded');
    expect(failureOf(await ask(tested.engine, request)).reason).toBe('overloaded');
    expect(finishedOf(await ask(tested.engine, request)).content).toEqual([{ type: 'text', text: 'At last.' }]);
  });

  const steps = [{ think: 'Hm.' }, { say: 'One two three.', chunks: 3 }, { call: 'bash', input: { command: 'ls' } }];

  it.each([0, 1, 2, 3])('[N8] an answer that is cut after %i of its blocks is never one', async (whole) => {
    const events = await ask(tested.engine, asking([...steps.slice(0, whole), { cut: true }, ...steps.slice(whole)]));
    expect(findDisorder(events)).toBeUndefined();
    expect(failureOf(events)).toMatchObject({ reason: 'connection_lost', consequence: 'retry' });
    expect(events.filter(({ type }) => type === 'block_started')).toHaveLength(whole);
  });

  it('[N4] usage before a failure is reported', async () => {
    const events = await ask(tested.engine, asking([{ say: 'One two three.' }, { cut: true }]));
    expect(events.at(-1)).toMatchObject({ type: 'failed', usage: { outputTokens: 1 } });
  });
}
