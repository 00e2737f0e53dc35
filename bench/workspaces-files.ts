import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Snapshots are not a public part of the server.
import { createGit } from '../packages/server/src/workspaces/git/run-git.ts';
import type { RecordCause } from '../packages/server/src/workspaces/snapshots/recorder-options.ts';
import { createSnapshots, type Snapshots } from '../packages/server/src/workspaces/snapshots/snapshots.ts';
import type { WorkspaceSource } from '../packages/server/src/workspaces/workspace-source.ts';

/** A recorded workspace: a git repository with this many committed files. */
export interface RecordedFiles {
  readonly directory: string;
  readonly files: number;
  readonly snapshots: Snapshots;
  readonly sessionId: string;
  /** The last recorded tree. */
  readonly tree: () => string;
  /** Writes one file and records it as the tool `write` does. */
  readonly edit: (round: number) => Promise<void>;
  /** Writes files and records the workspace as after a command. */
  readonly command: (round: number, files: number) => Promise<void>;
  /** Waits until the index is up to date, which callers of a record do not wait for. */
  readonly settle: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** Creates a repository and records it once. */
export async function recordRepository(files: number): Promise<RecordedFiles> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-bench-workspaces-')));
  const directory = join(root, 'work');
  mkdirSync(directory);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'gc.auto=0', ...args], { cwd: directory, encoding: 'utf8', env: ENVIRONMENT });
  git('init', '-q');
  for (let index = 0; index < files; index++) {
    if (index < DIRECTORIES) mkdirSync(join(directory, toDirectory(index)), { recursive: true });
    writeFileSync(join(directory, toPath(index)), toContent(index, 0));
  }
  git('add', '-A');
  git('commit', '-q', '-m', 'base');
  const objects = join(directory, '.git', 'objects');
  const source: WorkspaceSource = {
    type: 'directory',
    mode: 'in_place',
    path: directory,
    workspace: directory,
    repository: {
      top: directory,
      gitDirectory: join(directory, '.git'),
      commonDirectory: join(directory, '.git'),
      objects: [objects],
      objectFormat: 'sha1',
      base: git('rev-parse', 'HEAD').trim(),
      branch: null,
    },
  };
  const snapshots = createSnapshots({
    git: createGit('git'),
    directory: join(root, 'snapshots'),
    workspaces: { sourceOf: async () => source, prepare: async () => ({ path: directory, setup: null }) },
    remover: { discard: async (path) => rmSync(path, { recursive: true, force: true }) },
  });
  const sessionId = 'sesn_1';
  const recorder = snapshots.openRecorder(sessionId, null);
  let tree = (await recorder.prepare()).opened!.tree;
  const record = async (cause: RecordCause) => {
    const change = await recorder.record(cause);
    if (change === undefined) throw new Error('the change was not recorded');
    tree = change.payload.tree;
  };
  return {
    directory,
    files,
    snapshots,
    sessionId,
    tree: () => tree,
    edit: async (round) => {
      const toolUseId = `edit_${round}`;
      const path = toPath((round * 7_919) % files);
      recorder.begin({ threadId: 'thread', toolUseId, paths: [path] });
      writeFileSync(join(directory, path), toContent(round, 1));
      await record({ type: 'tool', threadId: 'thread', toolUseId });
    },
    command: async (round, count) => {
      const toolUseId = `command_${round}`;
      recorder.begin({ threadId: 'thread', toolUseId, paths: null });
      for (let index = 0; index < count; index++)
        writeFileSync(join(directory, toPath(index)), toContent(index, round + 2));
      await record({ type: 'tool', threadId: 'thread', toolUseId });
    },
    settle: () => recorder.close(),
    remove: async () => {
      await recorder.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The CPU time of this process and of the processes that it started and that have ended, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  // The name of the program may have spaces; what follows its closing parenthesis does not.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  const ticks = Number(fields[13]) + Number(fields[14]);
  return (user + system) / 1_000 + ticks * TICK_MS;
}

/** `sysconf(_SC_CLK_TCK)` is 100 on every Linux that Node runs on. */
const TICK_MS = 10;
const DIRECTORIES = 2_000;
const ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'bench@example.com',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'bench@example.com',
};

function toDirectory(index: number): string {
  return `d${index % 40}/e${Math.floor(index / 40) % 50}`;
}

function toPath(index: number): string {
  return `${toDirectory(index % DIRECTORIES)}/f${index}.txt`;
}

function toContent(index: number, round: number): string {
  return `file ${index} in round ${round}\n`.repeat(40);
}
