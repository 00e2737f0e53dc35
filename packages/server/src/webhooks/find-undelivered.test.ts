import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { webhookLimits } from './limits.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Status } from '../store/records.ts';
import { frames, newSession } from '../store/suite/samples.suite.ts';
import { commitOne } from '../store/write.ts';
import { findUndelivered } from './find-undelivered.ts';
import { createWebhookCursors } from './webhook-cursors.ts';

const start = 1_000_000_000;

/** Sessions that changed long ago and recently; some are delivered completely. */
async function open() {
  const clock = createManualClock(start);
  const store = createMemoryStore({ clock });
  const cursors = createWebhookCursors({ store, addressId: 'a', holder: undefined });
  const make = async (id: string, status: Status, delivery: number) => {
    const session = newSession(id, { status, createdAt: clock.now() });
    await commitOne(store, { type: 'create', session, frames: frames('1', '2'), changes: [] });
    const cursor = { workspaceId: 'w1', primaryThreadId: 't', seq: delivery, deliverFrom: 0, isSilent: false };
    if (delivery > 0) await cursors.take(id, async () => cursor);
  };
  await make('old', 'idle', 1);
  await make('old and at work', 'running', 1);
  await make('old and delivered', 'idle', 2);
  clock.advance(10 * webhookLimits.webhookMarginMs);
  await make('new', 'idle', 0);
  await make('new and at work', 'running', 0);
  const look = async (from: number, isFirst: boolean, room = 100) => {
    const found: string[] = [];
    const notice = (id: string) => found.length < room && found.push(id) > 0;
    const workspaces = async () => ['w1'];
    const settled = await findUndelivered({ store, cursors, workspaces, clock, from, isFirst, notice });
    return { settled, found: [...new Set(found)] };
  };
  return { clock, look };
}

it('[W67] a start finds every session with undelivered events, and returns the time up to which all are delivered', async () => {
  const { look } = await open();
  expect(await look(start, true)).toEqual({
    settled: start,
    found: ['old', 'old and at work', 'new', 'new and at work'],
  });
});

it('[W67] sessions that have not changed since their last delivery are skipped, unless they are running', async () => {
  const { clock, look } = await open();
  const { found } = await look(clock.now(), true);
  expect(found).toEqual(['new', 'new and at work', 'old and at work']);
  expect((await look(start + webhookLimits.webhookMarginMs + 1, true)).found).not.toContain('old');
  expect((await look(start + webhookLimits.webhookMarginMs, true)).found).toContain('old');
});

it('[W67] later searches skip running sessions that changed recently: the node that runs them delivers their events', async () => {
  const { clock, look } = await open();
  expect((await look(start, false)).found).toEqual(['old', 'old and at work', 'new']);
  clock.advance(webhookLimits.webhookMarginMs - 1);
  expect((await look(start, false)).found).not.toContain('new and at work');
  clock.advance(1);
  expect((await look(start, false)).found).toContain('new and at work');
});

it('[W66] when the queue is full, no session counts as delivered: the next search finds them again', async () => {
  const { look } = await open();
  expect(await look(start, true, 2)).toEqual({ settled: undefined, found: ['old', 'old and at work'] });
});
