import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createGit } from '../git/run-git.ts';
import type { DirectoryMode, WorkspaceSource } from '../workspace-source.ts';
import type { TreeEntry } from './list-tree.ts';
import { type BytePath, toPathBytes, toPathText } from './objects/path-text.ts';
import { createSnapshots, type Snapshots } from './snapshots.ts';
import type { WorkspaceRecorder } from './recorder.ts';

/** A directory with files, and its recorder. */
export interface SnapshotBench {
  readonly snapshots: Snapshots;
  readonly recorder: WorkspaceRecorder;
  readonly sessionId: string;
  /** The workspace. */
  readonly directory: string;
  /** The path of the snapshot repository. */
  readonly repository: string;
  /** A directory that is not the workspace. */
  readonly outside: string;
  readonly put: (path: string, content: string | Buffer, mode?: number) => void;
  readonly link: (path: string, target: string) => void;
  readonly remove: (path: string) => void;
  /** Runs git in the workspace, as its user would. */
  readonly git: (...args: string[]) => string;
  /** Creates a recorder that begins with this tree, as after a restart. */
  reopen(tree: string | null): WorkspaceRecorder;
  /** Records the whole workspace and returns the tree. */
  recordAll(): Promise<string>;
  /** Records a tool call that wrote these files, or any file. */
  call(toolUseId: string, paths?: readonly string[] | null, threadId?: string): ReturnType<WorkspaceRecorder['record']>;
}

/** Opens a workspace in a directory of its own. `before` fills it first. */
export async function openSnapshotBench({
  isRepository = true,
  mode = 'in_place',
  before,
  fileBytesMax,
}: {
  readonly isRepository?: boolean;
  readonly mode?: DirectoryMode;
  readonly fileBytesMax?: number;
  readonly before?: ((bench: Pick<SnapshotBench, 'put' | 'git' | 'link' | 'directory'>) => void) | undefined;
} = {}): Promise<SnapshotBench & { opened: string }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-snapshots-')));
  const recorders: WorkspaceRecorder[] = [];
  onTestFinished(async () => {
    for (const opened of recorders) await opened.close();
    rmSync(root, { recursive: true, force: true });
  });
  const [directory, outside] = [join(root, 'work'), join(root, 'outside')];
  for (const path of [directory, outside]) mkdirSync(path);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@example.com', ...args], {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], HOME: outside, GIT_CONFIG_NOSYSTEM: '1' },
    });
  const at = (path: string) => join(directory, path);
  const put = (path: string, content: string | Buffer, fileMode = 0o644) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
    chmodSync(at(path), fileMode);
  };
  const link = (path: string, target: string) => symlinkSync(target, at(path));
  if (isRepository) git('init', '-q', '-b', 'main');
  before?.({ put, git, link, directory });
  if (isRepository) {
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'base');
  }
  const source: WorkspaceSource = {
    type: 'directory',
    mode,
    path: directory,
    workspace: directory,
    repository: isRepository
      ? {
          top: directory,
          gitDirectory: join(directory, '.git'),
          commonDirectory: join(directory, '.git'),
          objects: [join(directory, '.git', 'objects')],
          objectFormat: 'sha1',
          base: git('rev-parse', 'HEAD').trim(),
          branch: null,
        }
      : null,
  };
  const snapshots = createSnapshots({
    git: createGit('git'),
    directory: join(root, 'snapshots'),
    workspaces: { sourceOf: async () => source, prepare: async () => ({ path: directory, setup: null }) },
    remover: { discard: async (path) => rmSync(path, { recursive: true, force: true }) },
    fileBytesMax,
  });
  const sessionId = 'sesn_1';
  const openRecorder = (known: string | null) => {
    const opened = snapshots.openRecorder(sessionId, known);
    recorders.push(opened);
    return opened;
  };
  const recorder = openRecorder(null);
  const opened = (await recorder.prepare()).opened!.tree;
  let tree = opened;
  const record = async (cause: Parameters<WorkspaceRecorder['record']>[0]) => {
    const change = await recorder.record(cause);
    tree = change?.payload.tree ?? tree;
    return change;
  };
  return {
    snapshots,
    recorder,
    sessionId,
    directory,
    repository: join(root, 'snapshots', sessionId),
    outside,
    opened,
    put,
    link,
    remove: (path) => rmSync(at(path), { recursive: true }),
    git,
    reopen: openRecorder,
    recordAll: async () => {
      await record({ type: 'turn', threadId: 'thread' });
      return tree;
    },
    call: async (toolUseId, paths = null, threadId = 'thread') => {
      recorder.begin({ threadId, toolUseId, paths });
      return await record({ type: 'tool', threadId, toolUseId });
    },
  };
}

/** The files of an oracle or a snapshot by path: mode and content, in hexadecimal digits. */
export type FileMap = Record<string, string>;

/** Reads the files of a directory without git. Skips `.git` at every level and `.fleetloom`. */
export function readOracle(directory: string): FileMap {
  const files: FileMap = {};
  const walk = (path: BytePath) => {
    const bytes = Buffer.concat([Buffer.from(`${directory}/`), toPathBytes(path)]);
    for (const entry of readdirSync(bytes, { withFileTypes: true, encoding: 'buffer' })) {
      const name = entry.name.toString('latin1');
      const inside = path === '' ? name : `${path}/${name}`;
      const full = Buffer.concat([Buffer.from(`${directory}/`), toPathBytes(inside)]);
      if (name === '.git' || inside === '.fleetloom') continue;
      if (entry.isDirectory()) walk(inside);
      else if (entry.isSymbolicLink())
        files[toPathText(inside)] = `120000 ${readlinkSync(full, 'buffer').toString('hex')}`;
      else if (entry.isFile()) {
        const mode = (lstatSync(full).mode & 0o100) === 0 ? '100644' : '100755';
        files[toPathText(inside)] = `${mode} ${readFileSync(full).toString('hex')}`;
      }
    }
  };
  walk('');
  return files;
}

/** The files of a recorded tree. */
export async function readSnapshot(snapshots: Snapshots, sessionId: string, tree: string): Promise<FileMap> {
  const entries: TreeEntry[] = [];
  for await (const entry of snapshots.listTree(sessionId, tree)) entries.push(entry);
  const repository = await snapshots.repositoryOf(sessionId);
  const objects = await repository.read(entries.map(({ object }) => object));
  return Object.fromEntries(
    entries.map(({ path, mode }, at) => [path, `${mode} ${objects[at]?.content.toString('hex')}`]),
  );
}
