import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Status } from '../store/records.ts';
import { frames, newSession } from '../store/suite/samples.suite.ts';
import { commitOne } from '../store/write.ts';
import { lookForUntold } from './look-for-untold.ts';
import { createWebhookPlaces } from './webhook-places.ts';

const start = 1_000_000_000;

/** Sessions that changed long ago and just now, of some of which everything is told. */
async function open() {
  const clock = createManualClock(start);
  const store = createMemoryStore({ clock });
  const places = createWebhookPlaces({ store, addressId: 'a', holder: undefined });
  const make = async (id: string, status: Status, told: number) => {
    const session = newSession(id, { status, createdAt: clock.now() });
    await commitOne(store, { type: 'create', session, frames: frames('1', '2'), changes: [] });
    const place = { workspaceId: 'w1', primaryThreadId: 't', seq: told, toldFrom: 0, isSilent: false };
    if (told > 0) await places.take(id, async () => place);
  };
  await make('old', 'idle', 1);
  await make('old and at work', 'running', 1);
  await make('old and told', 'idle', 2);
  clock.advance(10 * limits.webhookMarginMs);
  await make('new', 'idle', 0);
  await make('new and at work', 'running', 0);
  const look = async (from: number, isFirst: boolean, room = 100) => {
    const found: string[] = [];
    const notice = (id: string) => found.length < room && found.push(id) > 0;
    const workspaces = async () => ['w1'];
    const settled = await lookForUntold({ store, places, workspaces, clock, from, isFirst, notice });
    return { settled, found: [...new Set(found)] };
  };
  return { clock, look };
}

it('[W67] a start finds every session of which something is not told, and says up to when all are told', async () => {
  const { look } = await open();
  expect(await look(start, true)).toEqual({
    settled: start,
    found: ['old', 'old and at work', 'new', 'new and at work'],
  });
});

it('[W67] sessions that have not changed since everything was told are not looked at, unless they are at work', async () => {
  const { clock, look } = await open();
  const { found } = await look(clock.now(), true);
  expect(found).toEqual(['new', 'new and at work', 'old and at work']);
  expect((await look(start + limits.webhookMarginMs + 1, true)).found).not.toContain('old');
  expect((await look(start + limits.webhookMarginMs, true)).found).toContain('old');
});

it('[W67] later looks leave those alone that are at work and changed lately: whoever runs them tells of them', async () => {
  const { clock, look } = await open();
  expect((await look(start, false)).found).toEqual(['old', 'old and at work', 'new']);
  clock.advance(limits.webhookMarginMs - 1);
  expect((await look(start, false)).found).not.toContain('new and at work');
  clock.advance(1);
  expect((await look(start, false)).found).toContain('new and at work');
});

it('[W66] where there is no room for all, nothing counts as told: the next look finds them again', async () => {
  const { look } = await open();
  expect(await look(start, true, 2)).toEqual({ settled: undefined, found: ['old', 'old and at work'] });
});
