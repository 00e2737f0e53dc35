import { expect, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { webhookLimits } from './limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { Schedule } from '../base/schedule.ts';
import type { NewSessionFrame } from '../frames/frames.ts';
import { createLog, type SessionLog } from '../log/log.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { newSession } from '../store/suite/samples.suite.ts';
import type { Status } from '../store/records.ts';
import type { Change } from '../store/write.ts';
import { startReceiver } from './receiver.suite.ts';
import { toWebhookAddresses } from './webhook-addresses.ts';
import { toWebhookKey } from './webhook-key.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

/** A log whose events are delivered to a receiver. The test advances the clock. */
export async function openDeliveries() {
  const clock = createManualClock(Date.UTC(2026, 10, 16));
  const store = createMemoryStore({ clock });
  const key = toWebhookKey(Buffer.alloc(32, 7));
  const receiver = await startReceiver(() => key.text, clock.now);
  const problems: string[] = [];
  const running = new Set<Webhooks>();
  onTestFinished(async () => {
    for (const webhooks of running) await webhooks.close();
    await store.close();
  });
  return { clock, store, receiver, problems, begin };

  /** A process. It begins to search when it is started. */
  function begin({ holder, urls = [receiver.url], isMine = true }: BeginOptions = {}): Process {
    const timers = createManualSchedule(clock);
    const delays = new Set<{ readonly delayMs: number }>();
    const schedule: Schedule = (run, delayMs) => {
      const timer = { delayMs };
      delays.add(timer);
      const cancel = timers.schedule(() => (delays.delete(timer), run()), delayMs);
      return () => (delays.delete(timer), cancel());
    };
    const isAsking = () => [...delays].some(({ delayMs }) => delayMs === webhookLimits.webhookAnswerMs);
    const isLooking = () => [...delays].some(({ delayMs }) => delayMs === webhookLimits.webhookLookMs);
    const isResting = () => [...delays].some(({ delayMs }) => !notResting.has(delayMs));
    const webhooks = createWebhooks({
      store,
      addresses: toWebhookAddresses(urls),
      key,
      workspaces: async () => ['w1'],
      holder,
      isMine: () => isMine,
      clock,
      schedule,
      onProblem: (problem) => problems.push(String(problem)),
    });
    running.add(webhooks);
    const log = webhooks.watch(createLog({ store, schedule: timers.schedule }));
    return {
      webhooks,
      timers,
      hears: () => vi.waitFor(() => expect(isAsking()).toBe(false), { timeout: 20_000, interval: 2 }),
      looks: () => vi.waitFor(() => expect(isLooking()).toBe(true), { timeout: 20_000, interval: 2 }),
      rests: () => vi.waitFor(() => expect(isResting()).toBe(true), { timeout: 20_000, interval: 2 }),
      log,
      create: async (sessionId, types = [], over = {}) => {
        const data = { primary_thread_id: 'sthr_main', ...over };
        const frames = [toFrame('session.created'), ...types.map((type) => toFrame(type))];
        const createdAt = clock.now();
        const session = newSession(sessionId, { createdAt, data, status: over.status ?? 'idle' });
        await log.append({ type: 'create', session, frames, changes: [] });
        const acquired = await store.leases.acquire({ sessionId, owner: 'me', ttlMs: 1e9 });
        if (!acquired.ok) throw new Error('the lease is taken');
        return {
          append: async (type, payload) => {
            const frames = [toFrame(type, payload)];
            // As sessions write it: the state of a thread is not in the record of its session.
            const isOfThread = type.startsWith('session.thread_');
            const changes: Change[] = isOfThread ? [] : [{ type: 'update_session', updatedAt: clock.now(), patch: {} }];
            await log.append({ type: 'append', sessionId, fence: acquired.fence, frames, changes });
          },
          delete: async () => void (await log.append({ type: 'delete', sessionId, fence: acquired.fence })),
        };
      },
    };
  }

  function toFrame(type: string, payload: object = {}): NewSessionFrame {
    const filled = { id: 'sevt_1', stop_reason: { type: 'end_turn' }, is_archived: false, ...payload };
    // The cast: a test sets only the fields of a payload that it needs.
    return { threadId: null, turn: null, time: clock.now(), type, payload: filled } as unknown as NewSessionFrame;
  }
}

/** Delays of timers that wait for a response, or for the next search. */
const notResting: ReadonlySet<number> = new Set([webhookLimits.webhookAnswerMs, webhookLimits.webhookLookMs]);

interface BeginOptions {
  readonly holder?: string;
  readonly urls?: readonly string[];
  /** Whether the process searches for sessions that others left undelivered. */
  readonly isMine?: boolean;
}

export interface Process {
  readonly webhooks: Webhooks;
  readonly timers: ReturnType<typeof createManualSchedule>;
  /** Resolves when no response is awaited: late responses must not reach the next test. */
  readonly hears: () => Promise<void>;
  /** Resolves when the process waits for its next search. */
  readonly looks: () => Promise<void>;
  /** Resolves when the process waits for a retry. */
  readonly rests: () => Promise<void>;
  readonly log: SessionLog;
  readonly create: (
    sessionId: string,
    types?: readonly string[],
    over?: { readonly status?: Status; readonly is_read_only?: boolean },
  ) => Promise<WrittenSession>;
}

export interface WrittenSession {
  append(type: string, payload?: object): Promise<void>;
  delete(): Promise<void>;
}
