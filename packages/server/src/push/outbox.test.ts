import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { addDevice } from './devices.ts';
import { pushLimits } from './limits.ts';
import { Outbox } from './outbox.ts';
import type { PushPosted } from './post-message.ts';
import { createPushRecords, type StoredDevice, withDevice } from './push-records.ts';

const accepted: PushPosted = { type: 'accepted' };
const unavailable: PushPosted = { type: 'failed', reason: 'the push service answered 503', retryAfterMs: 0 };

it('[W123] failed deliveries are repeated after waits that double up to 10 min, or as long as retry-after asks, and dropped after 12', async () => {
  const { outbox, answers, sent, device, advance, settled } = await open();
  answers.push(unavailable, { ...unavailable, retryAfterMs: 90_000 }, accepted);
  outbox.notice('w', 'd');
  await settled();
  expect(await device()).toMatchObject({ failures: 1, notBefore: 2_000, problem: 'the push service answered 503' });
  await advance(1_999);
  expect(sent).toHaveLength(1);
  await advance(1);
  expect(await device()).toMatchObject({ failures: 2, notBefore: 92_000 });
  await advance(90_000);
  expect(sent).toHaveLength(3);
  expect(await device()).toMatchObject({ failures: 0, pending: {}, problem: null, lastSentAt: 92_000, claim: null });

  await device((known) => ({ ...known, pending: { s: 'needs_you 2' } }));
  answers.push(...Array.from({ length: pushLimits.pushTriesMax }, () => unavailable));
  outbox.notice('w', 'd');
  await settled();
  for (let index = 1; index < pushLimits.pushTriesMax; index++) {
    expect((await device())!.failures).toBe(index);
    await advance(pushLimits.pushRetryMsMax);
  }
  expect(sent).toHaveLength(3 + pushLimits.pushTriesMax);
  expect(await device()).toMatchObject({ failures: 0, pending: {}, problem: 'the push service answered 503' });
});

it('[W123] a device that its push service no longer knows is removed; a message that is rejected is not repeated', async () => {
  const { outbox, answers, sent, device, advance, settled } = await open();
  answers.push({ type: 'rejected', reason: 'the push service answered 403' });
  outbox.notice('w', 'd');
  await settled();
  expect(await device()).toMatchObject({ pending: {}, problem: 'the push service answered 403' });
  await advance(pushLimits.pushRetryMsMax);
  await device((known) => ({ ...known, pending: { s: 'failed 2' } }));
  answers.push({ type: 'gone' });
  outbox.notice('w', 'd');
  await settled();
  expect([sent.length, await device()]).toEqual([2, undefined]);
});

it('[W122] in quiet hours nothing is sent; afterwards one message has what is still pending', async () => {
  const { outbox, answers, sent, device, advance, settled } = await open();
  const quietHours = { from: '23:00', to: '02:00', timeZone: 'UTC' };
  await device((known) => ({ ...known, quietHours, pending: { s: 'needs_you 1', t: 'failed 5' } }));
  outbox.notice('w', 'd');
  await settled();
  await advance(2 * 60 * 60_000 - 1);
  outbox.notice('w', 'd');
  await settled();
  expect(sent).toEqual([]);
  answers.push(accepted);
  await advance(1);
  outbox.notice('w', 'd');
  await settled();
  expect(sent).toEqual([{ s: 'needs_you 1', t: 'failed 5' }]);
  expect((await device())!.pending).toEqual({});
});

it('[W124] of several nodes one sends a message; another one takes over when its claim has ended, and a stopped node leaves the message', async () => {
  const test = await open();
  const { outbox, answers, sent, device, advance, settled } = test;
  const other = test.openNode('other');
  answers.push(accepted);
  for (const node of [outbox, other, outbox, other]) node.notice('w', 'd');
  await settled();
  expect(sent).toHaveLength(1);

  // A node that has died in the middle.
  await device((known) => ({ ...known, pending: { s: 'needs_you 9' }, claim: { holder: 'dead', until: 60_000 } }));
  other.notice('w', 'd');
  await settled();
  expect(sent).toHaveLength(1);
  await advance(60_000);
  answers.push('never');
  other.notice('w', 'd');
  await settled();
  expect(sent).toHaveLength(2);
  await other.close();
  expect(await device()).toMatchObject({ pending: { s: 'needs_you 9' }, claim: null, failures: 0 });
});

it('[W119, W125] a session that changes while a message is sent is sent again, and at most 32 devices, 4 of one workspace, are sent messages at the same time', async () => {
  const { outbox, answers, sent, device, records, settled } = await open();
  let finish: (posted: PushPosted) => void = () => {};
  answers.push(new Promise<PushPosted>((resolve) => (finish = resolve)), accepted);
  outbox.notice('w', 'd');
  await settled();
  await device((known) => ({ ...known, pending: { s: 'needs_you 7' } }));
  finish(accepted);
  await settled();
  expect(sent).toEqual([{ s: 'needs_you 1' }, { s: 'needs_you 7' }]);

  const { devices } = await records.read('w');
  /** One device more than the workspace has deliveries. */
  const noticeAll = async (workspaceId: string) => {
    const ids = Array.from({ length: pushLimits.pushAtOncePerWorkspaceMax + 1 }, (_, index) => `d${index}`);
    const added = ids.map((id) => ({ ...devices[0]!, id, pending: { [workspaceId]: 'failed 1' } }));
    await records.update(workspaceId, (state) => ({ ...state, devices: added }));
    answers.push(...ids.map(() => 'never' as const));
    for (const id of ids) outbox.notice(workspaceId, id);
    await settled();
  };
  const sentTo = (workspaceId: string) => sent.filter((pending) => workspaceId in pending).length;
  const all = Array.from(
    { length: pushLimits.pushAtOnceMax / pushLimits.pushAtOncePerWorkspaceMax },
    (_, n) => `w${n}`,
  );
  for (const workspaceId of all) await noticeAll(workspaceId);
  expect(all.map(sentTo)).toEqual(all.map(() => pushLimits.pushAtOncePerWorkspaceMax));
  await noticeAll('y');
  expect(sentTo('y')).toBe(0);
});

it('[U603] workspaces whose push services fail are sent at most 16 messages at a time, and others are sent theirs at once', async () => {
  const { outbox, answers, records, sent, settled, advance } = await open();
  const { devices } = await records.read('w');
  const failing = Array.from({ length: 10 }, (_, n) => `f${n}`);
  const add = async (workspaceId: string) => {
    const ids = Array.from({ length: pushLimits.pushAtOncePerWorkspaceMax }, (_, index) => `d${index}`);
    const added = ids.map((id) => ({ ...devices[0]!, id, pending: { [workspaceId]: 'failed 1' } }));
    await records.update(workspaceId, (state) => ({ ...state, devices: added }));
    return () => ids.forEach((id) => outbox.notice(workspaceId, id));
  };
  const under = (prefix: string) => sent.filter((pending) => Object.keys(pending)[0]!.startsWith(prefix)).length;
  for (const workspaceId of failing) {
    const notice = await add(workspaceId);
    answers.push(...Array.from({ length: pushLimits.pushAtOncePerWorkspaceMax }, () => unavailable));
    notice();
    await settled();
  }
  expect(under('f')).toBe(40);
  answers.push(...Array.from({ length: 40 }, () => 'never' as const));
  await advance(pushLimits.pushRetryMs);
  await settled();
  expect(under('f')).toBe(40 + pushLimits.pushFailingAtOnceMax);
  answers.length = 0;
  answers.push(accepted, accepted, accepted, accepted);
  (await add('well'))();
  await settled();
  expect(under('well')).toBe(pushLimits.pushAtOncePerWorkspaceMax);
});

type Answer = PushPosted | Promise<PushPosted> | 'never';

/** A device with one pending session, at midnight UTC, and an outbox whose push service gives these answers. */
async function open() {
  const clock = createManualClock();
  const { schedule, advance } = createManualSchedule(clock);
  const records = createPushRecords(createMemoryStore({ clock }));
  const owner = { workspaceId: 'w', keyId: 'k', ownerId: 'owner', name: 'me' };
  const made = addDevice(owner, { label: 'a', endpoint: 'https://push.example/', keys: { p256dh: '', auth: '' } }, 0);
  const given: StoredDevice = { ...made.device, id: 'd', pending: { s: 'needs_you 1' } };
  await records.update('w', (state) => ({ ...state, devices: [given] }));
  const answers: Answer[] = [];
  const sent: object[] = [];
  const problems: unknown[] = [];
  const openNode = (holder: string) => {
    const outbox = new Outbox({
      records,
      send: async (_, { pending }, signal) => {
        sent.push(pending);
        const answer = answers.shift()!;
        if (answer !== 'never') return await answer;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { type: 'failed', reason: 'aborted', retryAfterMs: 0 };
      },
      hasKey: async () => true,
      holder,
      clock,
      schedule,
      onProblem: (problem) => problems.push(problem),
    });
    onTestFinished(async () => {
      await outbox.close();
      expect(problems).toEqual([]);
    });
    return outbox;
  };
  const settled = async () => {
    for (let turn = 0; turn < 20; turn++) {
      await new Promise(setImmediate);
      advance(0);
    }
  };
  return {
    records,
    outbox: openNode('node'),
    openNode,
    answers,
    sent,
    settled,
    advance: async (ms: number) => {
      advance(ms);
      await settled();
    },
    /** The device as it is stored, after a change. */
    device: async (change?: (known: StoredDevice) => StoredDevice) => {
      const state = await records.update('w', (known) => change && withDevice(known, 'd', change));
      return state.devices.find(({ id }) => id === 'd');
    },
  };
}
