import { expect, it } from 'vitest';
import { openSnapshotBench, type SnapshotBench } from './snapshots.suite.ts';

it('[WS610] changes before a call are recorded on their own, and the change of the call has only what the call did', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('a.txt', 'one\n') });
  bench.put('a.txt', 'user\n');
  bench.put('mine.txt', 'mine\n');
  expect(await before(bench, 'toolu_1')).toMatchObject({
    threadId: null,
    payload: { cause: 'outside', tool_use_id: null, files: [{ path: 'a.txt' }, { path: 'mine.txt' }] },
  });
  bench.put('agent.txt', 'agent\n');
  expect(await bench.recorder.record(tool('toolu_1'))).toMatchObject({
    payload: { cause: 'tool', tool_use_id: 'toolu_1', files: [{ path: 'agent.txt' }] },
  });
  expect(await before(bench, 'toolu_2')).toBeUndefined();
});

it('[WS610] before a call that names its file only that file is looked at, and the end of the turn finds the others', async () => {
  const bench = await openSnapshotBench({ before: ({ put }) => put('a.txt', 'one\n') });
  bench.put('a.txt', 'user\n');
  bench.put('mine.txt', 'mine\n');
  expect(await before(bench, 'toolu_1', ['a.txt'])).toMatchObject({
    payload: { cause: 'outside', files: [{ path: 'a.txt' }], files_count: 1 },
  });
  bench.put('a.txt', 'agent\n');
  expect(await bench.recorder.record(tool('toolu_1'))).toMatchObject({
    payload: { cause: 'tool', tool_use_id: 'toolu_1', files: [{ path: 'a.txt' }] },
  });
  expect(await bench.recorder.record({ type: 'turn', threadId: 'thread' })).toMatchObject({
    threadId: null,
    payload: { cause: 'outside', tool_use_id: null, files: [{ path: 'mine.txt' }] },
  });
});

it('[WS610] while another call runs a change belongs to that call', async () => {
  const bench = await openSnapshotBench();
  await before(bench, 'toolu_1');
  bench.put('a.txt', 'one\n');
  expect(await before(bench, 'toolu_2')).toBeUndefined();
  expect(await bench.recorder.record(tool('toolu_1'))).toMatchObject({
    payload: { cause: 'tool', candidates: [{ tool_use_id: 'toolu_1' }, { tool_use_id: 'toolu_2' }] },
  });
});

it('[WS610] in a worktree, which no user works in, nothing is recorded before a call', async () => {
  const bench = await openSnapshotBench({ mode: 'copy' });
  bench.put('a.txt', 'one\n');
  expect(await before(bench, 'toolu_1')).toBeUndefined();
  expect(await bench.recorder.record({ type: 'turn', threadId: 'thread' })).toMatchObject({ threadId: 'thread' });
});

/** What a session does before a call, and the change that this finds. */
async function before({ recorder }: SnapshotBench, toolUseId: string, paths: readonly string[] | null = null) {
  const call = { threadId: 'thread', toolUseId, paths };
  const change = await recorder.recordOutside(call);
  recorder.begin(call);
  return change;
}

function tool(toolUseId: string) {
  return { type: 'tool', threadId: 'thread', toolUseId } as const;
}
