import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import type { Engine, EngineEvent, ModelRequest } from '../engine.ts';
import {
  ask,
  asking,
  collect,
  type CreateEngine,
  failureOf,
  findDisorder,
  finishedOf,
  never,
  useEngine,
} from './send-request.suite.ts';

/** Longer than any test may take: an engine that waits for it has ignored the signal. */
const HOUR = 600_000;

const steps = [{ think: 'Hm, hm.' }, { say: 'One two three.', chunks: 3 }, { call: 'bash', input: { a: 1 } }];

export function interruptsSuite(createEngine: CreateEngine): void {
  const tested = useEngine(createEngine);

  it('[N9] the signal ends the answer after any event, and nothing follows', async () => {
    const whole = await ask(tested.engine, asking(steps));
    expect(whole.length).toBeGreaterThan(6);
    for (let stopAfter = 1; stopAfter < whole.length; stopAfter++) {
      const events = await interruptAfter(tested.engine, asking(steps), stopAfter);
      expect(events).toHaveLength(stopAfter + 1);
      expect(findDisorder(events)).toBeUndefined();
      expect(failureOf(events)).toMatchObject({ reason: 'interrupted', consequence: 'turn' });
    }
  });

  it('[N9] a signal that came before the request is heeded', async () => {
    const events = await ask(tested.engine, asking(steps), AbortSignal.abort());
    expect(events).toHaveLength(1);
    expect(failureOf(events).reason).toBe('interrupted');
  });

  it.each([
    ['before the answer', [{ sleep_ms: HOUR }, { say: 'late' }], 0],
    ['between blocks', [{ say: 'One.', chunks: 1 }, { sleep_ms: HOUR }, { say: 'late' }], 2],
    ['inside a block', [{ say: 'One two three four', chunks: 4, every_ms: HOUR }], 2],
    ['before the end', [{ say: 'One.', chunks: 1 }, { sleep_ms: HOUR }], 2],
  ])('[N9] the signal ends a silence at once: %s', async (_, turn, before) => {
    const controller = new AbortController();
    const events: EngineEvent[] = [];
    const reading = (async () => {
      for await (const event of tested.engine.request(asking(turn), controller.signal)) events.push(event);
    })();
    while (events.length < before) await new Promise((resolve) => setTimeout(resolve, 1));
    // Lets the engine begin its wait.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const abortedAt = performance.now();
    controller.abort();
    await reading;
    expect(performance.now() - abortedAt).toBeLessThan(HOUR / 60);
    expect(events).toHaveLength(before + 1);
    expect(failureOf(events).reason).toBe('interrupted');
  });

  it('[N9] a signal after the end changes nothing', async () => {
    const controller = new AbortController();
    const events = await ask(tested.engine, asking(steps), controller.signal);
    controller.abort();
    expect(finishedOf(events).content).toHaveLength(3);
  });

  it('[N10] a consumer that stops reading ends the request, also during a pause', async () => {
    for await (const event of tested.engine.request(asking([{ say: 'One.' }, { sleep_ms: HOUR }]), never)) {
      if (event.type === 'delta') break;
    }
    const events = tested.engine.request(asking([{ sleep_ms: HOUR }]), never)[Symbol.asyncIterator]();
    const reading = events.next();
    const started = performance.now();
    expect(await events.return?.()).toEqual({ done: true, value: undefined });
    expect(performance.now() - started).toBeLessThan(HOUR / 60);
    await reading;
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it('[N10] a request leaves nothing behind on its signal, however it ends', async () => {
    const { signal } = new AbortController();
    await ask(tested.engine, asking(steps), signal);
    await ask(tested.engine, asking([{ fail: { status: 400 } }]), signal);
    await ask(tested.engine, asking([{ say: 'One.' }, { cut: true }]), signal);
    for await (const event of tested.engine.request(asking(steps), signal)) if (event.type === 'delta') break;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('[N10] no request is sent before the first read', async () => {
    const request = asking([{ fail: { status: 500, times: 1 } }, { say: 'Second.' }]);
    tested.engine.request(request, never);
    expect(failureOf(await ask(tested.engine, request)).reason).toBe('request_failed');
    expect(finishedOf(await ask(tested.engine, request)).content).toHaveLength(1);
  });

  it('[N11] closing ends requests under way, and none begins afterwards', async () => {
    const { engine, close } = await createEngine();
    const reading = Array.from({ length: 3 }, async () => collect(engine.request(asking([{ sleep_ms: HOUR }]), never)));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await engine.close();
    for (const events of await Promise.all(reading)) expect(failureOf(events).reason).toBe('interrupted');
    expect(failureOf(await ask(engine, asking(steps))).reason).toBe('interrupted');
    await engine.close();
    await close();
  });
}

async function interruptAfter(engine: Engine, request: ModelRequest, count: number): Promise<EngineEvent[]> {
  const controller = new AbortController();
  const events: EngineEvent[] = [];
  for await (const event of engine.request(request, controller.signal)) {
    events.push(event);
    if (events.length === count) controller.abort();
  }
  return events;
}
