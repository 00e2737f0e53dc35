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
import { checkApplication, checkRestore, type KillableSession, OWN_OF_SESSIONS } from './restore-and-apply.suite.ts';
import { type Host, startHost } from './snapshots-kills.suite.ts';
import { connect, toScript } from '../server.suite.ts';
import { type ExportedFrame, framesOf, readSnapshots, waitIdle } from './snapshots.suite.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import {
  type FileMap,
  readOracle,
  readSnapshot,
} from '../../../packages/server/src/workspaces/snapshots/snapshots.suite.ts';

const ROUNDS = isLong ? 60 : 1;
const THREADS = 3;
const OPERATIONS = isLong ? 14 : 7;
const KILLS = 2;
const RESTORES = isLong ? 3 : 1;
const APPLICATIONS = isLong ? 4 : 1;

// Within the repository, because what is not bundled is found from there.
const codeFolder = join(repositoryRoot, '.cache', `snapshots-kills-${process.pid}`);
afterAll(() => rmSync(codeFolder, { recursive: true, force: true }));
beforeAll(async () => {
  const host = fileURLToPath(new URL('./snapshots-host.suite.ts', import.meta.url));
  await buildProgram(codeFolder, { host });
}, 60_000);

it(
  '[WS81, WS700] threads that write files at the same time, a server killed at random moments, and forks: at every cursor the snapshot has what each thread had written by then; restores and applications do as an oracle, and before an application the repository of the user keeps every byte',
  async () => {
    const random = randomText();
    let checked = 0;
    for (let round = 0; round < ROUNDS; round++) checked += await play(random);
    // If every thread had been interrupted at once, it would prove nothing.
    expect(checked).toBeGreaterThan(ROUNDS * THREADS);
    if (isLong) expect([...outcomes]).toEqual(expect.arrayContaining(['applied', 'conflict']));
  },
  timeout * 8,
);

/** How the applications of all rounds have ended. */
const outcomes = new Set<string>();

async function play(random: RandomText): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-kills-'));
  let checked = 0;
  let host: Host | undefined;
  const start = async (allowed: string) => (host = await startHost(codeFolder, directory, allowed));
  try {
    await withRepository(async (user) => {
      const stories = Array.from({ length: THREADS }, (_, index) => toStory(random, `t${index}`));
      await commitFirstFiles(user, stories);
      const before = user.fingerprint(OWN_OF_SESSIONS);
      const id = await begin((await start(user.root)).url, stories, user.path);
      for (let kill = 0; kill < KILLS; kill++) {
        await wait(200 + random.below(2_500));
        await host!.kill();
        expect(user.fingerprint(OWN_OF_SESSIONS)).toEqual(before);
        await start(user.root);
      }
      const test = { directory, url: host!.url, key: 'any' };
      await waitIdle({ client: connect(test.url) }, id);
      const frames = await framesOf(test, id);
      checked += await checkCursors(test, id, frames, stories);
      checked += await checkEnd(test, id, frames);
      await checkFork(test, id, frames, random);
      const restart = async () => {
        await host!.kill();
        await start(user.root);
      };
      const workspace = join(directory, 'workspaces', id);
      const session: KillableSession = { id, key: test.key, url: () => host!.url, workspace, restart };
      await checkRestores(session, test, frames, random);
      expect(user.fingerprint(OWN_OF_SESSIONS)).toEqual(before);
      const base = await readSnapshot(readSnapshots(test), id, treeAt(frames, firstOf(frames))!);
      for (let count = 0; count < APPLICATIONS; count++)
        outcomes.add(await checkApplication(session, { user, base, theirs: readOracle(workspace) }, random));
    });
  } finally {
    await host?.kill();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
  return checked;
}

/** What one thread does: a tool call at a time, and its files after each. */
interface Story {
  readonly name: string;
  readonly turns: readonly (readonly object[])[];
  /** After so many calls. */
  readonly states: readonly FileMap[];
}

function toStory(random: RandomText, name: string): Story {
  const turns: object[][] = [];
  const states: FileMap[] = [firstFiles(name)];
  const token = () => `${name} ${random.below(1e9)}\n`;
  for (let count = 0; count < OPERATIONS; count++) {
    const files = { ...states.at(-1)! };
    const path = `${name}/${random.pick(['a', 'b', 'c', 'deep/er/d'])}`;
    const content = token();
    const old = Object.keys(files)[0];
    const act = random.below(6);
    if (act === 0 && old !== undefined) {
      turns.push([bash(`rm ${old}`)]);
      delete files[old];
    } else if (act === 1 && old !== undefined && old !== `${name}/moved`) {
      turns.push([bash(`mv ${old} ${name}/moved`)]);
      files[`${name}/moved`] = files[old]!;
      delete files[old];
    } else if (act === 2) {
      turns.push([bash(`mkdir -p ${name}/deep/er && printf '%s' '${content}' > ${path} && chmod 755 ${path}`)]);
      files[path] = file('100755', content);
    } else if (act === 3) {
      turns.push([bash(`mkdir -p ${name} && ln -sfn ${content.trim().replace(' ', '-')} ${name}/link`)]);
      files[`${name}/link`] = file('120000', content.trim().replace(' ', '-'));
    } else {
      turns.push([{ call: 'write', input: { file_path: `/workspace/${path}`, content } }]);
      // Writing keeps the mode.
      files[path] = file(files[path]?.slice(0, 6) ?? '100644', content);
    }
    states.push(files);
  }
  return { name, turns: [...turns, [{ say: 'done' }]], states };
}

/** What is committed before a thread begins. */
function firstFiles(name: string): FileMap {
  return { [`${name}/a`]: file('100644', FIRST), [`${name}/b`]: file('100644', FIRST) };
}

async function commitFirstFiles(user: UserRepository, stories: readonly Story[]): Promise<void> {
  for (const path of stories.flatMap(({ name }) => Object.keys(firstFiles(name)))) await user.write(path, FIRST);
  user.git('add', '--all');
  user.git('commit', '--quiet', '--message=files of the threads');
}

const FIRST = 'first\n';

function file(mode: string, content: string): string {
  return `${mode} ${Buffer.from(content).toString('hex')}`;
}

function bash(command: string): object {
  return { call: 'bash', input: { command } };
}

async function begin(url: string, stories: readonly Story[], path: string): Promise<string> {
  const client = connect(url);
  const tools = [{ type: 'agent_toolset_20260401' as const }];
  const agents: { type: 'agent'; id: string; version: number }[] = [];
  for (const { name, turns } of stories) {
    const made = await client.beta.agents.create({ name, model: 'scripted/inline', system: toScript(turns), tools });
    agents.push({ type: 'agent', id: made.id, version: made.version });
  }
  const tasks = stories.map(({ name }) => ({ agent: name, message: 'Go.' }));
  const main = [[{ call: 'delegate', input: { tasks } }], [{ say: 'done' }]];
  const coordinator = await client.beta.agents.create({
    name: 'main',
    model: 'scripted/inline',
    system: toScript(main),
    tools,
    multiagent: { type: 'coordinator', agents },
  });
  const environment = await client.beta.environments.create({ name: 'here' });
  const { id } = await client.beta.sessions.create({
    agent: coordinator.id,
    environment_id: environment.id,
    resources: [{ type: 'directory', path }] as never,
  });
  await client.beta.sessions.events.send(id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
  });
  return id;
}

/** At every frame: what a thread had written by then, unless one of its calls was running or was cut off by a kill. */
async function checkCursors(
  test: { readonly directory: string },
  id: string,
  frames: readonly ExportedFrame[],
  stories: readonly Story[],
): Promise<number> {
  const snapshots = readSnapshots(test);
  const threads = new Map<string, { story: Story; calls: number; isOpen: boolean }>();
  let files: FileMap | undefined;
  let checked = 0;
  for (const { seq, type, thread_id, payload } of frames) {
    if (type === 'workspace.opened' || type === 'workspace.changed')
      files = await readSnapshot(snapshots, id, payload.tree);
    if (type === 'session.thread_created') {
      const story = stories.find(({ name }) => name === payload.agent_name)!;
      threads.set(payload.session_thread_id, { story, calls: 0, isOpen: false });
    }
    const thread = thread_id === null ? undefined : threads.get(thread_id);
    if (thread !== undefined && type === 'agent.tool_use') thread.isOpen = true;
    if (thread !== undefined && type === 'agent.tool_result') {
      thread.calls++;
      thread.isOpen = false;
      // Whether it had an effect is not known, and what follows builds on it.
      if (payload.is_error) threads.delete(thread_id!);
    }
    for (const { story, calls, isOpen } of threads.values()) {
      if (isOpen || files === undefined) continue;
      const own = Object.entries(files).filter(([path]) => path.startsWith(`${story.name}/`));
      expect([seq, story.name, Object.fromEntries(own)]).toEqual([seq, story.name, story.states[calls]]);
      checked++;
    }
  }
  return checked;
}

/** The session is idle: the last tree is the workspace. */
async function checkEnd(
  test: { readonly directory: string },
  id: string,
  frames: readonly ExportedFrame[],
): Promise<number> {
  const files = await readSnapshot(readSnapshots(test), id, treeAt(frames, Number.POSITIVE_INFINITY)!);
  expect(files).toEqual(readOracle(join(test.directory, 'workspaces', id)));
  const changes = frames.filter((frame) => frame.type === 'workspace.changed');
  for (const { seq, payload } of changes) expect(payload.parent).toBe(treeAt(frames, seq - 1));
  return changes.length;
}

/** A fork at a random cursor begins with the files of that cursor. */
async function checkFork(
  test: { readonly directory: string; readonly url: string; readonly key: string },
  id: string,
  frames: readonly ExportedFrame[],
  random: RandomText,
): Promise<void> {
  const opened = frames.find(({ type }) => type === 'workspace.opened')!;
  const { seq } = random.pick(frames.filter((frame) => frame.seq >= opened.seq));
  const headers = { 'x-api-key': test.key, 'content-type': 'application/json' };
  const body = JSON.stringify({ at: `${seq}` });
  const response = await fetch(`${test.url}/v1/sessions/${id}/fork`, { method: 'POST', headers, body });
  const fork = (await response.json()) as { id: string };
  const client = connect(test.url);
  await client.beta.sessions.events.send(fork.id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go on.' }] }],
  });
  await waitIdle({ client }, fork.id);
  const own = await framesOf(test, fork.id);
  const files = await readSnapshot(readSnapshots(test), fork.id, treeAt(own, Number.POSITIVE_INFINITY)!);
  expect(files).toEqual(readOracle(join(test.directory, 'workspaces', fork.id)));
  const first = own.find(
    (frame) =>
      frame.type === 'workspace.changed' &&
      !frames.some(({ payload }) => 'id' in payload && payload.id === frame.payload.id),
  );
  if (first?.type === 'workspace.changed')
    expect(frames.map(({ payload }) => ('tree' in payload ? payload.tree : ''))).toContain(first.payload.parent);
}

/** Restores to random cursors, forward and back. */
async function checkRestores(
  session: KillableSession,
  test: { readonly directory: string },
  frames: readonly ExportedFrame[],
  random: RandomText,
): Promise<void> {
  const cursors = frames.map(({ seq }) => seq).filter((seq) => seq >= firstOf(frames));
  for (let count = 0; count < RESTORES; count++) {
    const at = random.pick(cursors);
    const files = await readSnapshot(readSnapshots(test), session.id, treeAt(frames, at)!);
    await checkRestore(session, { at: `${at}`, files }, random);
  }
}

function firstOf(frames: readonly ExportedFrame[]): number {
  return frames.find(({ type }) => type === 'workspace.opened')!.seq;
}

/** The tree of the last frame of the workspace at or before a cursor. */
function treeAt(frames: readonly ExportedFrame[], at: number): string | undefined {
  const found = frames.findLast(
    ({ seq, type }) => seq <= at && (type === 'workspace.opened' || type === 'workspace.changed'),
  );
  return found !== undefined && 'tree' in found.payload ? found.payload.tree : undefined;
}
