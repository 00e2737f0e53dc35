import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../../../../../../../test/support/root.ts';
import { programLimits } from '../../limits.ts';
import { PendingWork } from './pending-work.ts';

const now = 1_000_000;
const create = (clock = { now: () => now }) => new PendingWork(clock);
const call = (id: string, name: string, input: object) => line('assistant', { type: 'tool_use', id, name, input });
const returns = (id: string, result: object, isError = false) => ({
  ...line('user', { type: 'tool_result', tool_use_id: id, content: 'text', is_error: isError }),
  tool_use_result: result,
});

it.each(['2.1.197', '2.1.325'])(
  '[J242] a background command of %s is work from the return of its call until its end, and a slow one in the foreground is not',
  (version) => {
    expect(eventsOf(version, 'background-bash')).toEqual([
      expect.objectContaining({ type: 'work_started', kind: 'command', description: 'Background sleep', until: null }),
      expect.objectContaining({ type: 'work_ended', outcome: 'completed' }),
    ]);
    expect(eventsOf(version, 'slow-bash-progress')).toEqual([]);
    expect(eventsOf(version, 'agents-to-background')).toEqual([]);
  },
);

it('[J243] a scheduled wake-up is work until 3 minutes after its time, the next one replaces it, and one that is stopped has ended', () => {
  const work = create();
  const take = (...lines: object[]) => lines.flatMap((each) => work.take(each as StreamJsonMessage));
  const wake = { workId: 'wake_up', kind: 'wake_up', description: 'Look again' };
  const input = { delaySeconds: 60, reason: 'Look again', prompt: '/loop x' };
  expect(take(call('t1', 'ScheduleWakeup', input), returns('t1', { scheduledFor: now + 60_000 }))).toMatchObject([
    { type: 'work_started', ...wake, until: now + 60_000 + programLimits.wakeUpGraceMs },
  ]);
  expect(
    take(call('t2', 'ScheduleWakeup', { stop: true }), returns('t2', { scheduledFor: 0, stopped: true })),
  ).toMatchObject([{ type: 'work_ended', workId: 'wake_up', outcome: 'stopped' }]);
  expect(take(call('t3', 'ScheduleWakeup', input), returns('t3', {}, true))).toEqual([]);
});

it('[J243] a cron job of the program is work until it has fired, a recurring one for 7 days, and one that is deleted has ended', () => {
  const work = create();
  const take = (...lines: object[]) => lines.flatMap((each) => work.take(each as StreamJsonMessage));
  const input = { cron: '* * * * *', prompt: 'Look.' };
  const once = { id: 'c1', recurring: false, nextFireAt: now + 30_000 };
  expect(take(call('t1', 'CronCreate', input), returns('t1', once))).toMatchObject([
    { workId: 'c1', kind: 'wake_up', description: 'Look.', until: now + 30_000 + programLimits.wakeUpGraceMs },
  ]);
  const often = { id: 'c2', recurring: true, nextFireAt: now + 30_000 };
  expect(take(call('t2', 'CronCreate', input), returns('t2', often))).toMatchObject([
    { workId: 'c2', until: now + programLimits.wakeUpDaysMs },
  ]);
  expect(take(call('t3', 'CronDelete', { id: 'c2' }), returns('t3', { id: 'c2' }))).toMatchObject([
    { type: 'work_ended', workId: 'c2', outcome: 'stopped' },
  ]);
});

it('[J243] a wake-up has fired with the first turn that begins at its time or later, and not with an earlier one', () => {
  let time = now;
  const work = create({ now: () => time });
  const take = (...lines: object[]) => lines.flatMap((each) => work.take(each as StreamJsonMessage));
  const init = { type: 'system', subtype: 'init' };
  take(call('t1', 'ScheduleWakeup', { prompt: 'x' }), returns('t1', { scheduledFor: now + 60_000 }));
  time += 59_999;
  expect(take(init)).toEqual([]);
  time += 1;
  expect(take(init)).toMatchObject([{ type: 'work_ended', workId: 'wake_up', outcome: 'completed' }]);
  expect(take(init)).toEqual([]);
});

it('[J390] a wake-up that 2.1.197 does not schedule is not work, and its one-time cron job is work until 3 minutes after it is due', () => {
  let time = new Date(2026, 0, 1, 12, 0, 30).getTime();
  const due = new Date(2026, 0, 1, 12, 5).getTime();
  const work = create({ now: () => time });
  const take = (...lines: object[]) => lines.flatMap((each) => work.take(each as StreamJsonMessage));
  // The results are those that 2.1.197 gives.
  const refused = { scheduledFor: 0, clampedDelaySeconds: 0, wasClamped: false };
  expect(take(call('t1', 'ScheduleWakeup', { prompt: 'x' }), returns('t1', refused))).toEqual([]);
  const once = { id: 'c1', humanSchedule: 'Every day at 12:05 PM', recurring: false, durable: false };
  expect(take(call('t2', 'CronCreate', { cron: '5 12 * * *', prompt: 'x' }), returns('t2', once))).toMatchObject([
    { type: 'work_started', workId: 'c1', until: due + programLimits.wakeUpGraceMs },
  ]);
  const init = { type: 'system', subtype: 'init' };
  expect(take(init)).toEqual([]);
  time = due;
  expect(take(init)).toMatchObject([{ type: 'work_ended', workId: 'c1', outcome: 'completed' }]);
});

function eventsOf(version: string, name: string) {
  const work = create();
  const file = readFileSync(join(repositoryRoot, 'fixtures/stream-json', version, `${name}.ndjson`), 'utf8');
  const lines = file
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as StreamJsonMessage);
  return lines.flatMap((each) => work.take(each));
}

function line(type: string, block: object) {
  return { type, message: { role: type, content: [block] } };
}
