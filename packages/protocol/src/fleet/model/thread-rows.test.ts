import { expect, it } from 'vitest';
import { createSlots, foldSlots } from '../slots/slots.ts';
import { formatUsageCost, noUsage, tokensOf } from '../slots/usage.ts';
import { parseFleetEvent } from '../wire/parse-fleet-event.ts';
import { threadKey, toThreadRows } from './thread-rows.ts';

/** A session after these events; each is its type and its fields. */
function runsAfter(...events: readonly (readonly [string, object])[]) {
  let cursor = 0;
  return events.reduce(
    (state, [event, fields]) =>
      foldSlots(
        state,
        parseFleetEvent({ event, id: String(++cursor), data: JSON.stringify({ ts: cursor, ...fields }) }),
      ),
    createSlots(),
  ).runs;
}

const run = (id: string) =>
  ['request_received', { request_id: id, session_id: 's', agent: 'lead', message: 'm' }] as const;
const of = (stream_id: number, agent: string, thread_id: string | null, depth = stream_id === 0 ? 0 : 1) => ({
  stream_id,
  agent,
  thread_id,
  depth,
});
const open = (id: number, agent: string, thread: string | null, parent: number | null = id === 0 ? null : 0) =>
  [
    'stream_start',
    { ...of(id, agent, thread), parent_stream_id: parent, child_index: null, task: '', model: 'm' },
  ] as const;
const spend = (id: number, thread: string | null, cost?: number) =>
  [
    'token_usage',
    {
      ...of(id, 'x', thread),
      model: 'm',
      input_tokens: 10,
      output_tokens: 1,
      cache_read_tokens: 100,
      cache_create_tokens: 1_000,
      ...(cost === undefined ? {} : { cost_usd: cost }),
    },
  ] as const;
const end = (id: number, thread: string | null, ok = true, reason = 'end_turn') =>
  ['stream_end', { ...of(id, 'x', thread), ok, stop_reason: reason }] as const;

it('[F80] a thread with several turns is one row with its newest turn and the sums of all', () => {
  const rows = toThreadRows(
    runsAfter(
      run('r1'),
      open(0, 'lead', 'L'),
      open(1, 'w', 'W'),
      spend(1, 'W', 0.25),
      end(1, 'W', false, 'error'),
      open(2, 'w', 'W'),
      spend(2, 'W', 0.5),
      end(2, 'W', false, 'cancelled'),
    ),
  );
  expect(rows.map(({ key, level, hasChildren, rowsBelow }) => [key, level, hasChildren, rowsBelow])).toEqual([
    ['L', 0, true, 1],
    ['W', 1, false, 0],
  ]);
  const [lead, worker] = rows;
  expect(worker).toMatchObject({ turns: 2, errors: 1, above: ['L'], branches: [false], ordinal: 0 });
  expect(worker?.slot.streamId).toBe(2);
  expect(worker?.usage.costUsd).toBe(0.75);
  expect([lead?.usage.costUsd, lead?.usageBelow.costUsd]).toEqual([0, 0.75]);
});

it('[F80] threads of one name are numbered in row order, and equal runs give the same rows', () => {
  const runs = runsAfter(run('r1'), open(0, 'lead', 'L'), open(1, 'w', 'A'), open(2, 'w', 'B'), open(3, 'v', 'C'));
  expect(toThreadRows(runs).map(({ agent, ordinal }) => [agent, ordinal])).toEqual([
    ['lead', 0],
    ['w', 1],
    ['w', 2],
    ['v', 0],
  ]);
  expect(toThreadRows(runs)).toBe(toThreadRows(runs));
});

it('[F80] a turn without a thread id is a thread of its own, and one without a known parent is placed below the coordinator', () => {
  const rows = toThreadRows(
    runsAfter(
      run('r1'),
      open(0, 'lead', 'L'),
      open(1, 'a', null),
      open(7, 'b', 'B', null),
      run('r2'),
      open(0, 'lead', 'L'),
    ),
  );
  expect(rows.map(({ key, level, turns }) => [key, level, turns])).toEqual([
    ['L', 0, 2],
    ['0.1', 1, 1],
    ['B', 1, 1],
  ]);
  expect(threadKey({ threadId: null, streamId: 4 }, 2)).toBe('2.4');
});

it('[F85] tokens count input, output and both kinds of cache; a cost that is not known is marked', () => {
  const [row] = toThreadRows(runsAfter(run('r1'), open(0, 'lead', 'L'), spend(0, 'L', 0.5), spend(0, 'L')));
  expect(tokensOf(row!.usage)).toBe(2_222);
  expect(formatUsageCost(row!.usage)).toBe('$0.50+');
  expect(formatUsageCost({ ...noUsage, requestsWithoutCost: 1 })).toBe('–');
  expect(formatUsageCost({ ...noUsage, requestsWithoutCost: 1 }, '-')).toBe('-');
  expect(formatUsageCost(noUsage)).toBe('$0.00');
});
