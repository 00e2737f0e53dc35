import { describe, expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { webhookLimits } from './limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { Delivery } from './deliver-session.ts';
import { WebhookSender } from './webhook-sender.ts';

const done: Delivery = { type: 'done', delivered: 1 };
const nothing: Delivery = { type: 'done', delivered: 0 };
const refused: Delivery = { type: 'refused', delivered: 0, reason: 'it answered 500' };

/** A sender whose rounds last until the test says what came of them. */
function open(waitingMax?: number) {
  const clock = createManualClock();
  const timers = createManualSchedule(clock);
  const begun: string[] = [];
  const problems: string[] = [];
  const rounds = new Map<string, (delivery: Delivery | Error) => void>();
  const sender = new WebhookSender({
    label: 'https://a.example',
    deliver: (sessionId, signal) => {
      begun.push(sessionId);
      return new Promise((resolve, reject) => {
        const abort = () => resolve(refused);
        signal.addEventListener('abort', abort);
        rounds.set(sessionId, (delivery) => {
          signal.removeEventListener('abort', abort);
          rounds.delete(sessionId);
          if (delivery instanceof Error) reject(delivery);
          else resolve(delivery);
        });
      });
    },
    clock,
    schedule: timers.schedule,
    onProblem: (problem) => problems.push(String(problem)),
    ...(waitingMax === undefined ? {} : { waitingMax }),
  });
  const end = async (sessionId: string, delivery: Delivery | Error) => {
    rounds.get(sessionId)!(delivery);
    await new Promise((resolve) => setImmediate(resolve));
  };
  /** How long it is until something begins. */
  const waitForNext = async () => {
    const before = begun.length;
    for (let ms = 0; ; ms += 500) {
      if (begun.length > before) return ms;
      if (ms > 2 * webhookLimits.webhookRetryMsMax) throw new Error('nothing begins');
      timers.advance(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { sender, timers, begun, problems, rounds, end, waitForNext };
}

describe('a sender', () => {
  it('[V202] the newest 20 deliveries are kept, with what was accepted and why the rest was not', async () => {
    const { sender, end, waitForNext } = open();
    sender.notice('a');
    await end('a', { type: 'refused', delivered: 2, reason: 'it answered 500' });
    expect(sender.state).toMatchObject({ delivered: 2, waiting: 1, deliveries: [{ problem: 'it answered 500' }] });
    await waitForNext();
    await end('a', nothing);
    expect(sender.state.deliveries).toHaveLength(1);
    for (let round = 0; round < webhookLimits.webhookOutcomesMax; round++) {
      sender.notice('b');
      await end('b', done);
    }
    const { deliveries, delivered, waiting } = sender.state;
    expect([deliveries.length, delivered, waiting]).toEqual([20, 22, 0]);
    expect(deliveries.every(({ problem }) => problem === null)).toBe(true);
    sender.notice('c');
    await end('c', { type: 'gone', delivered: 0 });
    expect(sender.state).toMatchObject({ isGone: true, delivered: 22 });
    expect(sender.state.deliveries[0]).toMatchObject({ delivered: 0, problem: 'it answered 410 (gone)' });
  });

  it('[W66] four sessions are delivered at a time, and the next one when one of them ends', async () => {
    const { sender, begun, end } = open();
    for (const sessionId of ['a', 'b', 'c', 'd', 'e', 'f']) sender.notice(sessionId);
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('c', done);
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
    await sender.close();
  });

  it('[W63] events that a session emits during its delivery are delivered in another round', async () => {
    const { sender, begun, end } = open();
    for (let count = 0; count < 5; count++) sender.notice('a');
    expect(begun).toEqual(['a']);
    await end('a', done);
    expect(begun).toEqual(['a', 'a']);
    await end('a', done);
    expect(begun).toEqual(['a', 'a']);
  });

  it('[W63] waits after each failure twice as long, up to a minute; an accepted event resets that', async () => {
    const { sender, end, problems, waitForNext } = open();
    sender.notice('a');
    const waits: number[] = [];
    for (let failures = 0; failures < 8; failures++) {
      await end('a', refused);
      waits.push(await waitForNext());
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(problems).toEqual(['Error: the webhook at https://a.example failed and will be retried: it answered 500']);
    await end('a', { ...refused, delivered: 1 });
    expect(await waitForNext()).toBe(1_000);
    expect(problems).toHaveLength(2);
    await end('a', new Error('the store is away'));
    expect(await waitForNext()).toBe(2_000);
    await sender.close();
  });

  it('[W63] while an address refuses events, one session is tried at a time, each in turn; a round without events does not count as success', async () => {
    const { sender, begun, end, waitForNext } = open();
    for (const sessionId of ['a', 'b', 'c', 'd', 'e', 'f']) sender.notice(sessionId);
    for (const sessionId of ['a', 'b', 'c', 'd']) await end(sessionId, refused);
    expect(begun).toHaveLength(4);
    expect(await waitForNext()).toBe(8_000);
    expect(begun.slice(4)).toEqual(['e']);
    await end('e', nothing);
    expect(begun.slice(4)).toEqual(['e', 'f']);
    await end('f', refused);
    expect(await waitForNext()).toBe(16_000);
    expect(begun.slice(6)).toEqual(['a']);
    await end('a', done);
    expect(begun.slice(7)).toEqual(['b', 'c', 'd', 'f']);
    await sender.close();
  });

  it('[W63] an event that a receiver never accepts does not block those of other sessions', async () => {
    const { sender, begun, end, timers, rounds } = open();
    sender.notice('bad');
    for (let second = 0; second < 120; second++) {
      if (second < 100) sender.notice(`good ${second}`);
      for (const sessionId of rounds.keys()) await end(sessionId, sessionId === 'bad' ? refused : done);
      timers.advance(1_000);
    }
    const tried = begun.filter((sessionId) => sessionId === 'bad').length;
    expect([begun.length - tried, tried]).toEqual([100, 7]);
    await sender.close();
  });

  it('[W69] a session that another node delivers is tried again a second later, without a warning', async () => {
    const { sender, begun, end, problems, waitForNext } = open();
    sender.notice('a');
    await end('a', { type: 'elsewhere', delivered: 0 });
    expect(await waitForNext()).toBe(1_000);
    await end('a', done);
    expect([begun, problems]).toEqual([['a', 'a'], []]);
  });

  it('[W65] an address that answered 410 gets no more requests', async () => {
    const { sender, begun, end, problems } = open();
    for (const sessionId of ['a', 'b', 'c', 'd', 'e']) sender.notice(sessionId);
    await end('a', { type: 'gone', delivered: 0 });
    expect(sender.notice('f')).toBe(false);
    for (const sessionId of ['b', 'c', 'd']) await end(sessionId, done);
    expect(begun).toHaveLength(4);
    expect(problems).toEqual([expect.stringContaining('https://a.example answered 410')]);
  });

  it('[W66] a limited number of sessions wait; one that already waits needs no room', async () => {
    expect(webhookLimits.webhookWaitingSessionsMax).toBe(10_000);
    const { sender, begun, end } = open(2);
    for (const sessionId of ['a', 'b', 'c', 'd']) expect(sender.notice(sessionId)).toBe(true);
    expect([sender.notice('e'), sender.notice('f'), sender.room]).toEqual([true, true, 0]);
    expect([sender.notice('g'), sender.notice('f'), sender.notice('a')]).toEqual([false, true, true]);
    await end('b', done);
    expect(begun.at(-1)).toBe('e');
    expect(sender.notice('g')).toBe(true);
    await sender.close();
  });

  it('[W67] closing ends deliveries under way and starts no more', async () => {
    const { sender, begun, timers } = open();
    for (const sessionId of ['a', 'b', 'c', 'd', 'e']) sender.notice(sessionId);
    await sender.close();
    timers.advance(webhookLimits.webhookRetryMsMax);
    expect([sender.notice('f'), begun.length, timers.waiting()]).toEqual([false, 4, 0]);
  });
});
