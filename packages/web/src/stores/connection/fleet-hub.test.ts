import { type FleetWatch, WatchFleetError, type WatchFleetOptions } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { afterEach, expect, it, vi } from 'vitest';
import { connectionLimits } from './limits.ts';
import { sampleLog } from '../../model/sample-log.suite.ts';
import { FleetHub } from './fleet-hub.ts';
import type { HubMessage, LinkState, TabPort } from './messages.ts';

/** A connection that the test controls. */
function createWire() {
  const queue: FleetEvent[] = [];
  let wake: (() => void) | undefined;
  let failure: unknown;
  let isOver = false;
  let opened = 0;
  let options: Pick<WatchFleetOptions, 'onConnection'> = {};
  async function* read(): AsyncGenerator<FleetEvent, void, undefined> {
    for (;;) {
      const next = queue.shift();
      if (next !== undefined) yield next;
      else if (failure !== undefined) throw failure;
      else if (isOver) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return {
    open: (given: typeof options) => {
      opened += 1;
      options = given;
      // The hub only iterates.
      return read() as unknown as FleetWatch;
    },
    emit: async (...events: readonly FleetEvent[]) => {
      queue.push(...events);
      wake?.();
      await vi.advanceTimersByTimeAsync(0);
    },
    state: (...state: Parameters<NonNullable<WatchFleetOptions['onConnection']>>) => options.onConnection?.(...state),
    fail: async (error: unknown) => {
      failure = error;
      wake?.();
      await vi.advanceTimersByTimeAsync(0);
    },
    end: async () => {
      isOver = true;
      wake?.();
      await vi.advanceTimersByTimeAsync(0);
    },
    get opened() {
      return opened;
    },
  };
}

function createTab(): TabPort & { messages: HubMessage[]; events: () => FleetEvent[]; link: () => LinkState } {
  const messages: HubMessage[] = [];
  return {
    messages,
    postMessage: (message) => void messages.push(message),
    events: () => messages.flatMap((message) => (message.type === 'events' ? message.events : [])),
    link: () => messages.flatMap((message) => (message.type === 'link' ? [message.link] : [])).at(-1)!,
  };
}

function createHub(aheadMs = 0) {
  vi.useFakeTimers();
  const wire = createWire();
  const hub = new FleetHub({
    open: wire.open,
    now: () => Date.now(),
    serverNow: () => Date.now() + aheadMs,
    later: (run, ms) => void setTimeout(run, ms),
  });
  return { wire, hub };
}

afterEach(() => void vi.useRealTimers());

it('[Z24] all tabs share one connection, and each receives every event once from when it attached, in batches', async () => {
  const { wire, hub } = createHub();
  const [first, second] = [createTab(), createTab()];
  const log = sampleLog();
  hub.attach(first);
  wire.state({ type: 'open' });
  await wire.emit(...log.slice(0, 10));
  expect(first.events()).toEqual([]);
  await vi.advanceTimersByTimeAsync(connectionLimits.hubBatchMs);
  expect(first.events()).toEqual(log.slice(0, 10));
  await wire.emit(...log.slice(10, 12));
  hub.attach(second);
  expect(second.messages[0]).toEqual({ type: 'welcome', sessions: ['sesn_1'] });
  await wire.emit(...log.slice(12));
  await vi.advanceTimersByTimeAsync(connectionLimits.hubBatchMs);
  expect(first.events()).toEqual(log);
  // Earlier events are in the log, which the tab loads on its own.
  expect(second.events()).toEqual(log.slice(12));
  expect([wire.opened, first.link().tabs]).toEqual([1, 2]);
  hub.detach(second);
  expect(first.link().tabs).toBe(1);
});

it('[Z300] caught-up events are counted with the clock of the server, whatever the clock of the browser', async () => {
  for (const aheadMs of [3_600_000, -3_600_000]) {
    const { wire, hub } = createHub(aheadMs);
    const tab = createTab();
    hub.attach(tab);
    wire.state({ type: 'open' });
    wire.state({ type: 'waiting', attempt: 1, waitMs: 2_000, error: undefined });
    wire.state({ type: 'open' });
    const there = Date.now() + aheadMs;
    const [a, b] = sampleLog();
    await wire.emit({ ...a!, ts: there - 50 }, { ...b!, ts: there + 10 });
    await vi.advanceTimersByTimeAsync(connectionLimits.hubBatchMs);
    expect(tab.link().caughtUp).toBe(1);
  }
});

it('[Z24] a lost connection is reported with the time of the next try, and afterwards the number of caught-up events', async () => {
  const { wire, hub } = createHub();
  const tab = createTab();
  hub.attach(tab);
  wire.state({ type: 'connecting', attempt: 0 });
  expect(tab.link().type).toBe('connecting');
  wire.state({ type: 'open' });
  wire.state({ type: 'waiting', attempt: 1, waitMs: 2_000, error: new Error('gone') });
  expect(tab.link()).toMatchObject({
    type: 'reconnecting',
    reconnects: 1,
    nextTryAt: Date.now() + 2_000,
    problem: 'Error: gone',
  });
  wire.state({ type: 'connecting', attempt: 1 });
  expect(tab.link().type).toBe('reconnecting');
  wire.state({ type: 'open' });
  const now = Date.now();
  const [a, b, c] = sampleLog();
  await wire.emit({ ...a!, ts: now - 50 }, { ...b!, ts: now - 10 }, { ...c!, ts: now + 10 });
  await vi.advanceTimersByTimeAsync(connectionLimits.hubBatchMs);
  expect(tab.link()).toMatchObject({ type: 'live', caughtUp: 2, nextTryAt: null });
});

it('[Z24] a signed-out user is reported as such, and a tab that attaches after the end connects again', async () => {
  const { wire, hub } = createHub();
  const tab = createTab();
  hub.attach(tab);
  await wire.fail(new WatchFleetError('unauthorized', 401, new Error('no')));
  expect(tab.link().type).toBe('signed_out');
  hub.attach(createTab());
  await vi.advanceTimersByTimeAsync(0);
  expect(wire.opened).toBe(2);
});
