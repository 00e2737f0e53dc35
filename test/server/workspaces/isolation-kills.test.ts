import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RandomText } from '../../../bench/random-text.ts';
import { buildProgram } from '../../support/build-program.ts';
import { repositoryRoot } from '../../support/root.ts';
import { isLong, randomText, timeout } from '../../support/seed.ts';
import { changesOf, type Refusal } from './changes.suite.ts';
import { createFleet, type Script, threadsOf, worktreeOf } from './isolation.suite.ts';
import { startHost } from './snapshots-kills.suite.ts';
import { type ExportedFrame, framesOf, readSnapshots, waitIdle } from './snapshots.suite.ts';
import { connect } from '../server.suite.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import {
  type FileMap,
  readOracle,
  readSnapshot,
} from '../../../packages/server/src/workspaces/snapshots/snapshots.suite.ts';

const ROUNDS = isLong ? 40 : 1;
const THREADS = 3;
const CALLS = isLong ? 8 : 4;
const PATHS = ['lines.txt', 'README.md', 'deep/one.txt', 'two.txt', 'src/main.ts'];

const codeFolder = join(repositoryRoot, '.cache', `isolation-kills-${process.pid}`);
afterAll(() => rmSync(codeFolder, { recursive: true, force: true }));
beforeAll(async () => {
  const host = fileURLToPath(new URL('./snapshots-host.suite.ts', import.meta.url));
  await buildProgram(codeFolder, { host });
}, 60_000);

it(
  '[WS314] threads that work apart at the same time, merges, and a server killed at random moments: every worktree has what its thread wrote, every merge is there as a whole or not at all',
  async () => {
    const random = randomText();
    let merges = 0;
    for (let round = 0; round < ROUNDS; round++) merges += await play(random);
    expect(merges).toBeGreaterThanOrEqual(ROUNDS);
  },
  timeout * 8,
);

async function play(random: RandomText): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-isolation-'));
  let merges = 0;
  try {
    await withRepository(async (user) => {
      await user.write('lines.txt', Array.from({ length: 12 }, (_, at) => `line ${at}\n`).join(''));
      user.git('add', '--all');
      user.git('commit', '--quiet', '--message=lines');
      const before = user.fingerprint(['.git/worktrees', '.git/refs/heads/fleetloom']);
      let host = await startHost(codeFolder, directory, user.root);
      const id = await begin(host.url, user, random);
      await wait(500 + random.below(3_000));
      await host.kill();
      host = await startHost(codeFolder, directory, user.root);
      await waitIdle({ client: connect(host.url) }, id);
      const test = { directory, url: host.url, key: 'any' };
      await checkTrees(test, id);
      const threads = (await threadsOf(test, id)).map(([, thread]) => thread);
      for (const thread of threads) {
        const isKilled = random.below(2) === 0;
        const merging = merge(test, id, thread);
        if (isKilled) {
          await wait(random.below(400));
          await host.kill();
        }
        await merging;
        if (isKilled) host = await startHost(codeFolder, directory, user.root);
        const now = { ...test, url: host.url };
        test.url = host.url;
        // What was cut off is finished or was never begun; asking again ends with the same files.
        const outcome = await merge(now, id, thread);
        merges += await checkMerge(now, id, thread, outcome);
        await checkTrees(now, id);
      }
      expect(user.fingerprint(['.git/worktrees', '.git/refs/heads/fleetloom'])).toEqual(before);
      await host.kill();
    });
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
  return merges;
}

async function begin(url: string, user: UserRepository, random: RandomText): Promise<string> {
  const names = Array.from({ length: THREADS }, (_, at) => `t${at}`);
  const agents = Object.fromEntries(names.map((name) => [name, toScript(name, random)]));
  const tasks = names.map((agent) => ({ agent, message: 'Go.', isolation: 'worktree' }));
  const script: Script = [
    [{ call: 'delegate', input: { tasks } }, bash('sed -i "s/^line 11$/main/" lines.txt')],
    [bash('echo main > two.txt')],
    [{ say: 'done' }],
  ];
  const client = connect(url);
  const id = await createFleet({ client }, { agents, script, resource: { path: user.path } });
  await client.beta.sessions.events.send(id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
  });
  return id;
}

function bash(command: string): object {
  return { call: 'bash', input: { command } };
}

/** What one thread does: lines of its own that merge with those of others, and files that may conflict. */
function toScript(name: string, random: RandomText): Script {
  const line = Number(name.slice(1)) * 4;
  const calls = Array.from({ length: CALLS }, (_, at) => {
    const path = random.pick(PATHS);
    // The first thread has lines and files of its own, so that at least one merge is possible.
    const act = name === 't0' ? (at % 2) * 2 : random.below(4);
    if (act === 0) return bash(`sed -i "s/^line ${line}$/${name}/" lines.txt`);
    if (act === 1) return bash(`rm -f ${path}`);
    if (act === 2)
      return bash(`mkdir -p ${name} && echo ${random.below(1e6)} > ${name}/own.txt && chmod 755 ${name}/own.txt`);
    return { call: 'write', input: { file_path: `/workspace/${path}`, content: `${name} ${random.below(1e6)}\n` } };
  });
  return [...calls.map((call) => [call]), [{ say: 'done' }]];
}

interface At {
  readonly directory: string;
  readonly url: string;
  readonly key: string;
}

/** `conflict`, `done`, or undefined if the server was gone. */
async function merge(test: At, id: string, thread: string): Promise<'done' | 'conflict' | 'none' | undefined> {
  try {
    await changesOf(test, id).merge({ thread_id: thread });
    return 'done';
  } catch (error) {
    const { code } = error as Partial<Refusal>;
    if (code === 'merge_conflict') return 'conflict';
    // The kill came before its worktree was made.
    return code === 'not_applicable' ? 'none' : undefined;
  }
}

/** Every workspace has the files of its last tree, and each change follows the one before it. */
async function checkTrees(test: At, id: string): Promise<void> {
  const frames = await framesOf(test, id);
  const snapshots = readSnapshots(test);
  const owners = [
    null,
    ...frames.flatMap((each) => (each.type === 'workspace.isolated' ? [each.payload.session_thread_id] : [])),
  ];
  for (const owner of owners) {
    const own = frames.filter((frame) => isOf(frame, owner));
    let tree: string | undefined;
    for (const { type, payload } of own) {
      if (type === 'workspace.changed') expect(payload.parent).toBe(tree);
      tree = 'tree' in payload ? payload.tree : tree;
    }
    const directory = owner === null ? join(test.directory, 'workspaces', id) : worktreeOf(test, id, owner);
    expect([owner, readOracle(directory)]).toEqual([owner, await readSnapshot(snapshots, id, tree!)]);
  }
}

function isOf({ type, payload }: ExportedFrame, owner: string | null): boolean {
  if (type === 'workspace.opened') return owner === null;
  if (type === 'workspace.isolated') return payload.session_thread_id === owner;
  return type === 'workspace.changed' && (payload.workspace_thread_id ?? null) === owner;
}

/** The merges of a thread in the log: each has exactly the result of an oracle, and is there once. */
async function checkMerge(test: At, id: string, thread: string, outcome: string | undefined): Promise<number> {
  const frames = await framesOf(test, id);
  const snapshots = readSnapshots(test);
  const read = async (tree: string) => await readSnapshot(snapshots, id, tree);
  const isolated = frames.find(
    (each) => each.type === 'workspace.isolated' && each.payload.session_thread_id === thread,
  );
  if (isolated?.type !== 'workspace.isolated') return 0;
  const started = frames.filter(
    (each) => each.type === 'workspace.merge_started' && each.payload.session_thread_id === thread,
  );
  const ended = frames.filter(
    (each) => each.type === 'workspace.merge_ended' && each.payload.session_thread_id === thread,
  );
  expect(started.length).toBeLessThanOrEqual(1);
  if (outcome === 'conflict') {
    expect(ended).toEqual([]);
    return 0;
  }
  expect(outcome).toBe('done');
  for (const { payload } of started) {
    if (!('from' in payload) || !('merged' in payload)) continue;
    const [base, ours, theirs, merged] = await Promise.all(
      [isolated.payload.tree, payload.from, payload.merged, payload.tree].map(read),
    );
    expect(merged).toEqual(mergeByOracle({ base: base!, ours: ours!, theirs: theirs! }));
    const after = frames.find(
      (each) =>
        each.type === 'workspace.changed' && each.payload.cause === 'merge' && each.payload.parent === payload.from,
    );
    expect(after?.type === 'workspace.changed' && (await read(after.payload.tree))).toEqual(merged);
  }
  return ended.length;
}

/** A three-way merge by lines, without git: the lines of this test are replaced one by one. */
function mergeByOracle({ base, ours, theirs }: { base: FileMap; ours: FileMap; theirs: FileMap }): FileMap {
  const merged: FileMap = {};
  for (const path of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const [old, our, their] = [base[path], ours[path], theirs[path]];
    const chosen = their === old ? our : our === old || our === their ? their : mergeLines(old!, our!, their!);
    if (chosen !== undefined) merged[path] = chosen;
  }
  return merged;
}

function mergeLines(...files: [base: string, ours: string, theirs: string]): string {
  const [base, ours, theirs] = files.map((file) => Buffer.from(file.slice(7), 'hex').toString().split('\n'));
  const lines = ours!.map((line, at) => (theirs![at] === base![at] ? line : theirs![at]!));
  return `${files[1].slice(0, 6)} ${Buffer.from(lines.join('\n')).toString('hex')}`;
}
