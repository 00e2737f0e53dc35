import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RecordCause } from '../../workspaces/snapshots/recorder-options.ts';
import type { WorkspaceRecorder } from '../../workspaces/snapshots/recorder.ts';
import { openSnapshotBench } from '../../workspaces/snapshots/snapshots.suite.ts';
import type { Command } from '../core/command.ts';
import { sessionLimits } from '../core/limits.ts';
import type { SessionState, ThreadState } from '../core/state/state.ts';
import { mergeFiles, type MergeParts, resumeMerge } from './merge-files.ts';

const request = { threadId: 'sthr_child', toolUseId: 'sevt_1', by: null };

it('[WS316] a merge that was cut off between two files is finished after the crash; a file that was changed since is left as it is', async () => {
  const { bench, state, parts, childPut, commands } = await openMerge();
  for (const name of ['a', 'b', 'c', 'd']) childPut(`${name}.txt`, `${name}\n`);
  let isDead = false;
  const dying: MergeParts = {
    ...parts,
    dispatch: async (command, change) => {
      if (isDead) throw new Error('the process is gone');
      await parts.dispatch(command, change);
      isDead = command.type === 'merge_started';
    },
    open: async (owner) => ({ ...bindAll(await parts.open(owner)), ...(owner === null ? { replace: die } : {}) }),
  };
  async function die(): Promise<never> {
    writeFileSync(join(bench.directory, 'a.txt'), 'a\n');
    writeFileSync(join(bench.directory, 'd.txt'), "the user's\n");
    throw new Error('the process is gone');
  }
  await expect(mergeFiles(dying, request)).rejects.toThrow('the process is gone');
  expect(state.merging).not.toBeNull();
  await resumeMerge(parts);
  const read = (name: string) => readFileSync(join(bench.directory, name), 'utf8');
  expect(['a.txt', 'b.txt', 'c.txt', 'd.txt'].map(read)).toEqual(['a\n', 'b\n', 'c\n', "the user's\n"]);
  expect(commands.map(({ type }) => type)).toEqual(['merge_started', 'merge_ended']);
  expect(state.merging).toBeNull();
  expect(await mergeFiles(parts, request)).toEqual({ type: 'nothing' });
});

it('[WS316] if a file cannot be written, the files written before it become what they were', async () => {
  const { bench, parts, childPut, commands, state } = await openMerge();
  childPut('a.txt', 'a\n');
  childPut('kept.txt', 'child\n');
  let writes = 0;
  const failing: MergeParts = {
    ...parts,
    open: async (owner) => {
      const recorder = bindAll(await parts.open(owner));
      return {
        ...recorder,
        replace: async (trees) => {
          const left = await recorder.replace(trees);
          if (owner === null && ++writes === 1) throw new Error('no space left on the disk');
          return left;
        },
      };
    },
  };
  expect(await mergeFiles(failing, request)).toEqual({ type: 'failed', reason: 'no space left on the disk' });
  expect(readFileSync(join(bench.directory, 'kept.txt'), 'utf8')).toBe('kept\n');
  expect(() => readFileSync(join(bench.directory, 'a.txt'))).toThrow('ENOENT');
  expect(commands.at(-1)).toMatchObject({ type: 'merge_ended', merge: { is_merged: false } });
  expect(state.merging).toBeNull();
  expect(await mergeFiles(parts, request)).toMatchObject({
    type: 'merged',
    files: [{ path: 'a.txt' }, { path: 'kept.txt' }],
  });
});

it('[WS316] a merge whose target changes all the time gives up after 3 attempts, with nothing written', async () => {
  const { bench, parts, childPut, commands } = await openMerge();
  childPut('kept.txt', 'child\n');
  childPut('free.txt', 'free\n');
  let attempts = 0;
  const moving: MergeParts = {
    ...parts,
    open: async (owner) => {
      const recorder = bindAll(await parts.open(owner));
      if (owner !== null) return recorder;
      return {
        ...recorder,
        findObstacles: async (trees) => {
          writeFileSync(join(bench.directory, 'free.txt'), `${++attempts}\n`);
          const found = await recorder.findObstacles(trees);
          rmSync(join(bench.directory, 'free.txt'));
          return found;
        },
      };
    },
  };
  expect(await mergeFiles(moving, request)).toEqual({
    type: 'conflicts',
    files: [{ path: 'free.txt', reason: 'kind' }],
  });
  expect([attempts, commands]).toEqual([sessionLimits.mergeAttemptsMax, []]);
  expect(readFileSync(join(bench.directory, 'kept.txt'), 'utf8')).toBe('kept\n');
});

/** A workspace with the worktree of a thread beside it, and a state that follows what is logged. */
async function openMerge() {
  const bench = await openSnapshotBench({ before: ({ put }) => put('kept.txt', 'kept\n') });
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-merge-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'work'));
  await bench.snapshots.writeTree(bench.sessionId, bench.opened, join(directory, 'work'));
  const own = bench.snapshots.openThreadRecorder({
    sessionId: bench.sessionId,
    threadId: 'sthr_child',
    tree: bench.opened,
    open: async () => join(directory, 'work'),
  });
  onTestFinished(() => own.close());
  await own.prepare();
  const thread = (id: string, parentId: string | null, isolation: ThreadState['isolation']) =>
    ({ id, parentId, isolation }) as ThreadState;
  const isolation = { tree: bench.opened, merged: bench.opened, branch: null, unmerged: null };
  // A merge looks at nothing else of the state.
  const state = {
    id: bench.sessionId,
    workspace: { opened: bench.opened, tree: bench.opened },
    merging: null,
    threads: new Map([
      ['sthr_main', thread('sthr_main', null, null)],
      ['sthr_child', thread('sthr_child', 'sthr_main', isolation)],
    ]),
  } as unknown as SessionState;
  const commands: Command[] = [];
  const recorderOf = (owner: ThreadState | null) => (owner === null ? bench.recorder : own);
  const setTree = (owner: ThreadState | null, tree: string) => {
    if (owner === null)
      state.workspace = { opened: bench.opened, tree, counts: { files_count: 0, lines_added: 0, lines_removed: 0 } };
    else owner.isolation = { ...owner.isolation!, tree };
  };
  const record = async (owner: ThreadState | null, cause: RecordCause) => await recorderOf(owner).record(cause);
  const parts: MergeParts = {
    state,
    open: async (owner) => recorderOf(owner),
    record,
    log: async (owner, cause) => {
      const change = await record(owner, cause);
      if (change !== undefined) setTree(owner, change.payload.tree);
    },
    dispatch: async (command, change) => {
      commands.push(command);
      if (change !== undefined) setTree(null, change.payload.tree);
      const child = state.threads.get('sthr_child')!;
      if (command.type === 'merge_started') {
        const { from, tree, merged } = command.merge;
        state.merging = { threadId: 'sthr_child', from, tree, merged, toolUseId: 'sevt_1', by: null };
      }
      if (command.type !== 'merge_ended') return;
      state.merging = null;
      if (command.merge.is_merged) child.isolation = { ...child.isolation!, merged: command.merge.merged };
    },
  };
  const childPut = (path: string, content: string) => writeFileSync(join(directory, 'work', path), content);
  return { bench, state, parts, commands, childPut };
}

function bindAll(recorder: WorkspaceRecorder): WorkspaceRecorder {
  return {
    prepare: () => recorder.prepare(),
    recordOutside: (call) => recorder.recordOutside(call),
    begin: (call) => recorder.begin(call),
    record: (cause) => recorder.record(cause),
    diff: (trees) => recorder.diff(trees),
    merge: (trees) => recorder.merge(trees),
    findObstacles: (trees) => recorder.findObstacles(trees),
    replace: (trees) => recorder.replace(trees),
    write: (trees) => recorder.write(trees),
    close: () => recorder.close(),
  };
}
