import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { SessionLog } from '../log/log.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { SessionSummary, SummaryRecord } from '../store/summaries.ts';
import type { Write } from '../store/write.ts';
import { assignChanges, assignMissed } from './assign-changes.ts';
import { addDevice } from './devices.ts';
import { watchChanges } from './find-changes.ts';
import { pushLimits } from './limits.ts';
import { createPush } from './push.ts';
import type { PushState } from './push-records.ts';
import { isQuiet, isTimeZone } from './quiet-hours.ts';

it('[W122] quiet hours are in the time zone of the device, with its summer time, and may span midnight', () => {
  const night = { from: '22:00', to: '07:30', timeZone: 'Europe/Vienna' };
  const at = (text: string) => isQuiet(night, Date.parse(text));
  // UTC+1 in winter, UTC+2 in summer.
  expect([at('2026-01-10T20:59:59Z'), at('2026-01-10T21:00:00Z')]).toEqual([false, true]);
  expect([at('2026-07-10T19:59:59Z'), at('2026-07-10T20:00:00Z')]).toEqual([false, true]);
  expect([at('2026-01-11T06:29:59Z'), at('2026-01-11T06:30:00Z')]).toEqual([true, false]);
  const lunch = { from: '12:00', to: '13:00', timeZone: 'UTC' };
  const times = ['11:59', '12:00', '12:59', '13:00'].map((time) => isQuiet(lunch, Date.parse(`2026-01-10T${time}Z`)));
  expect(times).toEqual([false, true, true, false]);
  expect([isTimeZone('America/New_York'), isTimeZone('Mars'), isTimeZone('')]).toEqual([true, false, false]);
});

it('[W119, W125] a session is reported when it needs a person for something more, and when it fails, after the commit', async () => {
  const found: string[] = [];
  let seq = 0;
  const log = watchChanges(
    toLog(() => ++seq),
    ({ change }) => found.push(`${change} after ${seq}`),
  );
  const steps: [SessionSummary['state'], number][] = [
    ['running', 0],
    ['needs_you', 1],
    ['needs_you', 1],
    ['needs_you', 3],
    ['needs_you', 2],
    ['running', 0],
    ['needs_you', 1],
    ['failed', 0],
    ['archived', 0],
  ];
  for (const [state, needs] of steps) await log.append(toWrite('s', state, needs));
  expect(found).toEqual(['needs_you 2 after 2', 'needs_you 4 after 4', 'needs_you 7 after 7', 'failed 1000 after 8']);
});

it('[W125] at most 10,000 changes wait in memory', async () => {
  const clock = createManualClock();
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const findWorkspace = vi.spyOn(store.sessions, 'findWorkspace');
  const push = createPush({
    store,
    openVapid: () => Promise.reject(new Error('not needed')),
    contact: '',
    rules: { resolveHost: async () => [], allowedPrivateHosts: [] },
    hasKey: async () => true,
    holder: 'node',
    isMine: () => true,
    clock,
    schedule,
    onProblem: (problem) => expect.unreachable(String(problem)),
  });
  onTestFinished(() => push.close());
  const log = push.watch(toLog(() => 1));
  const { pushQueuedChangesMax: max } = pushLimits;
  for (let index = 0; index <= max; index++) await log.append(toWrite(`s${index}`, 'needs_you', 1));
  advance(pushLimits.pushGatherMs);
  await vi.waitFor(() => expect(findWorkspace).toHaveBeenCalledTimes(max));
});

it('[W119, W121] each change is assigned once to the devices that want it; of more than 200 sessions the newest stay pending', () => {
  const state = toState(['approvals'], ['failures'], ['approvals', 'failures']);
  const changes = [
    { sessionId: 'a', change: 'needs_you 3' },
    { sessionId: 'b', change: 'failed 1000' },
  ];
  const assigned = assignChanges(state, changes)!;
  expect(assigned.devices.map(({ pending }) => pending)).toEqual([
    { a: 'needs_you 3' },
    { b: 'failed 1000' },
    { a: 'needs_you 3', b: 'failed 1000' },
  ]);
  expect(assignChanges(assigned, changes)).toBeUndefined();
  const { pushPendingSessionsMax: max } = pushLimits;
  const many = Array.from({ length: max + 1 }, (_, index) => ({ sessionId: `s${index}`, change: 'failed 1' }));
  const [, device] = assignChanges(assigned, [...many, { sessionId: 's1', change: 'failed 2' }])!.devices;
  expect([Object.keys(device!.pending).length, device!.pending['s0'], device!.pending['s1']]).toEqual([
    max,
    undefined,
    'failed 2',
  ]);
});

it('[W124] a change that a crash has lost is found again; one that was assigned, is too recent or is older than the device is not', () => {
  const state = { ...toState(['approvals', 'failures']), announced: { known: 'needs_you 5', done: 'needs_you 6' } };
  const sessions = [
    toRecord('known', 'needs_you', 500),
    toRecord('lost', 'needs_you', 500),
    toRecord('failed', 'failed', 500),
    toRecord('recent', 'failed', 901),
    toRecord('old', 'needs_you', 99),
  ];
  const missed = assignMissed(state, sessions, 900)!;
  expect(missed.devices[0]!.pending).toEqual({ lost: 'needs_you 0', failed: 'failed 1000' });
  expect(Object.keys(missed.announced)).toEqual(['known', 'lost', 'failed', 'old']);
  expect(assignMissed(missed, sessions, 900)).toBeUndefined();
});

/** Devices that were added at 100 and want these kinds. */
function toState(...kinds: ('approvals' | 'failures')[][]): PushState {
  const owner = { workspaceId: 'w', keyId: 'k', ownerId: 'owner', name: 'me' };
  const keys = { p256dh: '', auth: '' };
  const devices = kinds.map((notify, index) => {
    const params = { label: 'a', endpoint: `https://push.example/${index}`, keys, notify };
    return addDevice(owner, params, 100).device;
  });
  return { devices, announced: {} };
}

function toRecord(sessionId: string, state: SessionSummary['state'], activityAt: number): SummaryRecord {
  const data = { needs_you: state === 'needs_you' ? 1 : 0, is_read_only: false, ended_at: 1_000 };
  // Only these fields are read.
  return { sessionId, state, activityAt, createdAt: 0, data } as unknown as SummaryRecord;
}

function toWrite(sessionId: string, state: SessionSummary['state'], needs: number): Write<never> {
  const data = { needs_you: needs, is_read_only: false, ended_at: 1_000 };
  const summary = { state, data } as unknown as SessionSummary;
  return { type: 'append', sessionId, fence: 1, frames: [], changes: [{ type: 'put_summary', summary }] };
}

/** A log that only numbers what is appended. */
function toLog(next: () => number): SessionLog {
  const append = async () => {
    await new Promise(setImmediate);
    const lastSeq = next();
    return { firstSeq: lastSeq, lastSeq };
  };
  return { append } as unknown as SessionLog;
}
