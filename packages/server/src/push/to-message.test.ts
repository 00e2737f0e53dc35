import { expect, it } from 'vitest';
import type { Store } from '../store/store.ts';
import type { SummaryRecord } from '../store/summaries.ts';
import { encryptMessage } from './encrypt-message.ts';
import { createSubscriber } from './push-service.suite.ts';
import { toMessage } from './to-message.ts';

const device = { notify: ['approvals', 'failures'], includesContent: true } as const;
const DAY_MS = 24 * 60 * 60 * 1_000;

it('[W120] a message names three sessions at most, and the longest one can be encrypted', async () => {
  // Each character takes six bytes in JSON.
  const long = '\ud800'.repeat(81);
  const store = toStore(['a', 'b', 'c', 'd'].map((id) => toRecord(id, 'needs_you', { name: long, reason: long })));
  const pending = Object.fromEntries(['a', 'b', 'c', 'd'].map((id) => [id, 'needs_you 1']));
  const { message } = (await toMessage(store, 'w', { ...device, pending }, 0))!;
  expect(message).toMatchObject({ title: '4 sessions need you', url: '#/inbox', needs_you: 4, failed: 0 });
  const lines = message.body.split('\n');
  expect(lines.map((line) => line.length)).toEqual([162, 162, 162]);
  const { keys } = createSubscriber();
  const target = { p256dh: Buffer.from(keys.p256dh, 'base64url'), auth: Buffer.from(keys.auth, 'base64url') };
  expect(encryptMessage(JSON.stringify(message), target).length).toBeLessThanOrEqual(4_096);
});

it('[W119, W121, W122] a message counts what matters now: nothing that was answered or deleted, and failures of the last 24 hours', async () => {
  const store = toStore([
    toRecord('answered', 'running'),
    toRecord('asks', 'needs_you'),
    toRecord('failed', 'failed', {}, DAY_MS + 1),
    toRecord('old', 'failed', {}, 0),
  ]);
  const titleOf = async (
    pending: Record<string, string>,
    notify: readonly ('approvals' | 'failures')[] = device.notify,
  ) => {
    const made = await toMessage(store, 'w', { notify, includesContent: false, pending }, 2 * DAY_MS);
    return made && [made.message.title, made.message.url, made.urgency];
  };
  expect(await titleOf({ answered: 'needs_you 3', deleted: 'failed 9' })).toBeUndefined();
  expect(await titleOf({ asks: 'needs_you 3' })).toEqual(['1 session needs you, 1 failed', '#/inbox', 'high']);
  expect(await titleOf({ asks: 'needs_you 3' }, ['approvals'])).toEqual([
    '1 session needs you',
    '#/thread/asks',
    'high',
  ]);
  expect(await titleOf({ failed: 'failed 9' }, ['failures'])).toEqual([
    '1 session failed',
    '#/thread/failed',
    'normal',
  ]);
});

function toRecord(sessionId: string, state: SummaryRecord['state'], texts: object = {}, activityAt = 0): SummaryRecord {
  const data = { name: 'a', reason: null, ...texts };
  // Only these fields are read.
  return { sessionId, state, activityAt, agentName: 'a', model: 'm', data } as unknown as SummaryRecord;
}

/** The summaries of these sessions, counted as a store counts them. */
function toStore(records: readonly SummaryRecord[]): Pick<Store, 'summaries'> {
  const summaries: Partial<Store['summaries']> = {
    getAll: async (_, ids) => records.filter(({ sessionId }) => ids.includes(sessionId)),
    list: async ({ activeFrom = 0 }) => {
      const groups = records
        .filter(({ activityAt }) => activityAt >= activeFrom)
        .map(({ state, agentName, model }) => ({ state, agentName, model, count: 1 }));
      return { items: [], next: null, groups, missing: 0 };
    },
  };
  return { summaries: summaries as Store['summaries'] };
}
