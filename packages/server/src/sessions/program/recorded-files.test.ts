import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { openSnapshotBench } from '../../workspaces/snapshots/snapshots.suite.ts';
import {
  begins,
  calls,
  createTestPrograms,
  ends,
  gives,
  says,
  turnBegins,
  turnEnds,
} from '../runtime/program/test-program.suite.ts';
import { agent, openFleet, workspaceId } from '../suite/fleet.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main', []), model };

it('[WS77] the files of a program are recorded before each tool result that may have changed them, and before the end of a turn', async () => {
  const bench = await openSnapshotBench();
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs, openRecorder: (_, tree) => bench.reopen(tree) });
  const id = await fleet.begin(main, 'Go.', { isRecorded: true });
  const program = await programs.wait();
  program.emit({ type: 'opened', key: 'main', conversation: 'c1', version: '1' }, turnBegins, begins());
  program.emit(calls('t1', 'allow'), ends());
  await fleet.until(id, ({ type }) => type === 'tool.started');
  bench.put('called.txt', 'one\n');
  program.emit(gives('t1'));
  await fleet.until(id, ({ type }) => type === 'agent.tool_result');
  bench.put('late.txt', 'two\n');
  program.emit(begins(), says('Done.'), ends(), turnEnds);
  await fleet.rest(id);
  const frames = await fleet.frames(id);
  const at = (type: string) => frames.findIndex((frame) => frame.type === type);
  expect(at('workspace.opened')).toBeLessThan(at('program.opened'));
  const [first, second] = frames.filter((frame) => frame.type === 'workspace.changed');
  const result = frames[at('agent.tool_result')]!;
  expect(first!.seq).toBe(result.seq - 1);
  expect(result.type === 'agent.tool_result' && result.payload.tool_use_id).toBe(first!.payload.tool_use_id);
  expect(first!.payload.files).toEqual([{ path: 'called.txt', status: 'added', added: 1, removed: 0 }]);
  expect(second!.payload).toMatchObject({ cause: 'turn', tool_use_id: null, files: [{ path: 'late.txt' }] });
  expect(second!.seq).toBeLessThan(frames[at('turn.ended')]!.seq);
  expect(frames.filter(({ type }) => type.startsWith('workspace.'))).toHaveLength(3);
});

it('[WS77] the files of a call that arrives together with its result are recorded as its own', async () => {
  const bench = await openSnapshotBench();
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs, openRecorder: (_, tree) => bench.reopen(tree) });
  const id = await fleet.begin(main, 'Go.', { isRecorded: true });
  const program = await programs.wait();
  program.emit({ type: 'opened', key: 'main', conversation: 'c1', version: '1' }, turnBegins);
  await fleet.until(id, ({ type }) => type === 'program.opened');
  bench.put('edited.txt', 'one\n');
  program.emit(
    begins(),
    calls('t1', 'allow'),
    ends(),
    gives('t1'),
    begins(),
    calls('t2', 'allow'),
    ends(),
    gives('t2'),
  );
  program.emit(begins(), says('Done.'), ends(), turnEnds);
  await fleet.rest(id);
  const frames = await fleet.frames(id);
  const [use] = frames.filter((frame) => frame.type === 'agent.tool_use');
  const changes = frames.filter((frame) => frame.type === 'workspace.changed');
  expect(changes.map(({ payload }) => payload)).toMatchObject([
    { cause: 'tool', tool_use_id: use!.payload.id, files: [{ path: 'edited.txt' }] },
  ]);
});

it('[V191] the summary counts what differs from the opened workspace, also after files changed twice or back', async () => {
  const bench = await openSnapshotBench();
  const programs = createTestPrograms();
  const fleet = await openFleet({
    programs,
    openRecorder: (_, tree, opened) => bench.snapshots.openRecorder(bench.sessionId, tree, opened),
  });
  const id = await fleet.begin(main, 'Go.', { isRecorded: true });
  const program = await programs.wait();
  program.emit({ type: 'opened', key: 'main', conversation: 'c1', version: '1' }, turnBegins);
  const step = async (name: string, change: () => void) => {
    program.emit(begins(), calls(name, 'allow'), ends());
    await expect.poll(async () => (await fleet.payloads(id, 'tool.started')).length).toBeGreaterThan(step.count);
    change();
    program.emit(gives(name));
    await expect.poll(async () => (await fleet.payloads(id, 'agent.tool_result')).length).toBeGreaterThan(step.count);
    step.count++;
    const [summary] = await fleet.store.summaries.getAll(workspaceId, [id]);
    return summary!.data['changes'];
  };
  step.count = 0;
  const counts = (files: number, added: number) => ({ files_count: files, lines_added: added, lines_removed: 0 });
  expect(await step('t1', () => bench.put('a.txt', 'one\ntwo\n'))).toEqual(counts(1, 2));
  expect(await step('t2', () => bench.put('a.txt', 'one\n'))).toEqual(counts(1, 1));
  expect(await step('t3', () => bench.put('b.txt', 'three\n'))).toEqual(counts(2, 2));
  expect(await step('t4', () => bench.remove('b.txt'))).toEqual(counts(1, 1));
  program.emit(begins(), says('Done.'), ends(), turnEnds);
  await fleet.rest(id);
});
