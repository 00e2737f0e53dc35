import { atMost, type Bench, comparePair, type Measured, median } from './harness.ts';
// Diffs are not a public part of the server.
import { changesLimits } from '../packages/server/src/workspaces/changes/limits.ts';
import { diffTrees, unifiedDiffs } from '../packages/server/src/workspaces/snapshots/diff-trees.ts';
import { openPlainFleets } from './workspaces-plain.ts';
import { cpuMs, recordRepository, type RecordedFiles } from './workspaces-files.ts';
import { measureWorktrees } from './workspaces-worktree.ts';

/** The cost of recording a workspace. */
export const workspaces: Bench = {
  name: 'workspaces',
  cases: [
    { name: 'worktree', run: worktree },
    { name: 'open', run: open },
    { name: 'known-edit', run: knownEdit },
    { name: 'command', run: command },
    { name: 'diff', run: diff },
    { name: 'diff-texts', run: diffTexts },
    { name: 'no-workspace', run: noWorkspace },
  ],
};

const FILES = 40_000;
const ROUNDS = 21;
const WORKTREE_ROUNDS = 3;

/** Creating the worktree of a session, against `git worktree add`. The first round finds the sandbox, and does not count. */
async function worktree(): Promise<Measured> {
  return await withFiles(async ({ directory }) => {
    const rounds = (await measureWorktrees(directory, WORKTREE_ROUNDS + 1)).slice(1);
    const [value, floor] = [median(rounds.map(({ oursMs }) => oursMs)), median(rounds.map(({ gitMs }) => gitMs))];
    const ratio = value / floor;
    return { value, unit: 'ms', floor, ratio, goal: '<= 1.3x git worktree add', ok: ratio <= 1.3 };
  });
}

/** Opening the recorder of a workspace whose files are committed. */
async function open(): Promise<Measured> {
  return await withFiles(async ({ snapshots, sessionId, tree }) => {
    const begin = performance.now();
    const recorder = snapshots.openRecorder(sessionId, tree());
    await recorder.prepare();
    const value = performance.now() - begin;
    await recorder.close();
    return { value, unit: 'ms', floor: null, ratio: null, goal: 'reported', ok: true };
  });
}

/** Recording a file that a tool call names, which the next model request waits for. */
async function knownEdit(): Promise<Measured> {
  return await withFiles(async (files) => {
    const times: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const begin = performance.now();
      await files.edit(round);
      if (round > 0) times.push(performance.now() - begin);
      await files.settle();
    }
    const value = median(times);
    return { value, unit: 'ms', floor: null, ratio: null, goal: '<= 30 ms', ok: value <= 30 };
  });
}

/** Recording a command that changed 3 files, including the work after the record. CPU time of this process and of git. */
async function command(): Promise<Measured> {
  return await withFiles(async (files) => {
    await files.command(0, 3);
    await files.settle();
    const begin = cpuMs();
    for (let round = 1; round <= ROUNDS; round++) {
      await files.command(round, 3);
      await files.settle();
    }
    const value = (cpuMs() - begin) / ROUNDS;
    return { value, unit: 'ms cpu', floor: null, ratio: null, goal: '<= 150 ms cpu', ok: value <= 150 };
  });
}

/** The files and counts of a change of 1,000 files. */
async function diff(): Promise<Measured> {
  return await withFiles(async (files) => {
    const before = files.tree();
    await files.command(0, 1_000);
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const begin = performance.now();
      const changes = await files.snapshots.diffTrees(files.sessionId, before, files.tree());
      times.push(performance.now() - begin);
      if (changes.length !== 1_000) throw new Error(`${changes.length} files differ instead of 1000`);
    }
    const value = median(times);
    return { value, unit: 'ms', floor: null, ratio: null, goal: '<= 500 ms', ok: value <= 500 };
  });
}

/** The unified diffs of 1,000 files, as one page of them is read. */
async function diffTexts(): Promise<Measured> {
  return await withFiles(async (files) => {
    const before = files.tree();
    await files.command(0, 1_000);
    const repository = await files.snapshots.repositoryOf(files.sessionId);
    const trees = [before, files.tree()] as const;
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const begin = performance.now();
      const changes = await diffTrees(repository, ...trees);
      const texts = await unifiedDiffs(repository, changes, { trees, bytesMax: changesLimits.diffsBytesMax });
      times.push(performance.now() - begin);
      const count = texts?.filter((text) => text.startsWith('diff --git ')).length;
      if (count !== 1_000) throw new Error(`${count} files have a diff instead of 1000`);
    }
    const value = median(times);
    return { value, unit: 'ms', floor: null, ratio: null, goal: '<= 500 ms', ok: value <= 500 };
  });
}

/** A session without a workspace on a server that can record workspaces, against one that cannot. */
async function noWorkspace(): Promise<Measured> {
  const { without, recording, close } = await openPlainFleets();
  try {
    return atMost(1.05, await comparePair({ floor: without, ours: recording }, { rounds: 41, budgetMs: 20_000 }));
  } finally {
    await close();
  }
}

async function withFiles(measure: (files: RecordedFiles) => Promise<Measured>): Promise<Measured> {
  const files = await recordRepository(FILES);
  try {
    return await measure(files);
  } finally {
    await files.remove();
  }
}
