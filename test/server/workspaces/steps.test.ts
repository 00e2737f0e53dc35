import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FleetEvent,
  parseFleetEvent,
  type WorkspaceDiff,
  type WorkspaceDiffs,
  type WorkspaceSteps,
} from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { expect, it } from 'vitest';
import { changesOf, refusalOf } from './changes.suite.ts';
import { createRecorded, framesOf, say } from './snapshots.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';
import { changesLimits } from '../../../packages/server/src/workspaces/changes/limits.ts';
import { snapshotLimits } from '../../../packages/server/src/workspaces/snapshots/objects/limits.ts';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

const bash = (command: string) => ({ call: 'bash', input: { command } });
const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
const done = [{ say: 'done' }];

it('[WS370] the steps of a session are how it was opened and each recorded change, with its thread, tool, files and counts, and what users did', () =>
  withUser(async (test, user) => {
    const script = [[write('a.txt', 'one\n')], [bash('rm README.md; echo x >> src/main.ts')], done];
    const id = await createRecorded(test, script, { path: user.path });
    expect(await stepsOf(test, id)).toMatchObject({ type: 'workspace_steps', steps: [], next_after: null });
    await say(test, id);
    const changes = changesOf(test, id);
    await changes.apply();
    await changes.restore({ at: 'start' });
    await changes.discard();
    const { steps } = await stepsOf(test, id);
    expect(steps.map(({ type, cause, by }) => [type, cause, by])).toEqual([
      ['opened', null, null],
      ['changed', 'tool', null],
      ['changed', 'tool', null],
      ['applied', null, expect.any(String)],
      ['changed', 'restore', expect.any(String)],
      ['discarded', null, expect.any(String)],
    ]);
    const [opened, first, second, applied] = steps;
    const frames = (await framesOf(test, id)).filter((frame) => frame.type === 'workspace.changed');
    const [{ seq, thread_id: threadId, payload }] = frames as [(typeof frames)[number], ...typeof frames];
    expect(opened).toMatchObject({ session_thread_id: null, agent_name: null, calls: [], files: [], files_count: 0 });
    expect(first).toMatchObject({
      cursor: String(seq),
      session_thread_id: threadId,
      agent_name: 'a',
      calls: [{ session_thread_id: threadId, tool_use_id: payload.tool_use_id, tool: 'write' }],
      files: [{ path: 'a.txt', status: 'added', added: 1, removed: 0 }],
      files_count: 1,
      lines_added: 1,
      lines_removed: 0,
    });
    expect(second).toMatchObject({ calls: [{ tool: 'bash' }], files_count: 2, lines_added: 1, lines_removed: 1 });
    expect(applied).toMatchObject({ files_count: 3 });
    // The cursors of the steps are those that the other requests take.
    expect((await changes.list({ to: first!.cursor })).files_count).toBe(1);
    // Also from the log alone.
    const later = await test.restart();
    expect((await stepsOf(later, id)).steps).toEqual(steps);
  }));

it('[WS370] steps come in pages of up to 1,000, each names up to 20 files, and a thread selects its own', () =>
  withUser(async (test, user) => {
    const many = bash('for i in $(seq 100 120); do echo $i > $i.txt; done');
    const id = await createRecorded(test, [[many], [write('a.txt', 'one\n')], done], { path: user.path });
    await say(test, id);
    expect([changesLimits.stepsMax, changesLimits.stepFilesMax]).toEqual([1_000, 20]);
    const { steps } = await stepsOf(test, id);
    expect(steps.map(({ files, files_count: count }) => [files.length, count])).toEqual([
      [0, 0],
      [20, 21],
      [1, 1],
    ]);
    const page = await stepsOf(test, id, { limit: '2' });
    expect([page.steps, page.next_after]).toEqual([steps.slice(0, 2), steps[1]!.cursor]);
    const rest = await stepsOf(test, id, { limit: '2', after: page.next_after! });
    expect([rest.steps, rest.next_after]).toEqual([steps.slice(2), null]);
    expect((await stepsOf(test, id, { limit: '1000' })).steps).toEqual(steps);
    expect(await refusalOf(stepsOf(test, id, { limit: '1001' }))).toMatchObject({ status: 400 });
    const thread = steps[1]!.session_thread_id!;
    expect((await stepsOf(test, id, { thread })).steps).toEqual(steps.slice(1));
  }));

it('[WS371] `start` names the state in which the workspace was opened last, for a restore and for reading files', () =>
  withUser(async (test, user) => {
    const script = [[write('a.txt', 'one\n')], done, [write('a.txt', 'two\n'), write('b.txt', 'b\n')], done];
    const id = await createRecorded(test, script, { path: user.path });
    await say(test, id);
    const changes = changesOf(test, id);
    await changes.discard();
    // The second workspace begins with what the user has by then.
    await user.write('README.md', 'newer\n');
    user.git('commit', '--quiet', '--all', '--message=newer');
    await say(test, id);
    expect((await changes.content({ path: 'README.md', at: 'start' })).bytes.toString()).toBe(
      (await changes.content({ path: 'README.md' })).bytes.toString(),
    );
    expect((await changes.tree({ at: 'start' })).entries.some(({ path }) => path === 'a.txt')).toBe(false);
    const { from } = await changes.list();
    const preview = await changes.restore({ at: 'start', dry_run: true });
    expect([preview.at.cursor, preview.files_count]).toEqual([from!.cursor, 2]);
    const restored = await changes.restore({ at: 'start' });
    expect(restored.files.map(({ path, status }) => `${path} ${status}`)).toEqual(['a.txt deleted', 'b.txt deleted']);
    expect((await changes.list()).files_count).toBe(0);
    expect(await refusalOf(changes.list({ from: 'start' }))).toMatchObject({ status: 400 });
  }));

it('[WS372] a thread that the session does not have is an error, for its changes and for its steps', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('a.txt', 'one\n')], done], { path: user.path });
    await say(test, id);
    const error = { status: 404, code: 'unknown_id', message: expect.stringContaining('has no thread sthr_other') };
    expect(await refusalOf(changesOf(test, id).list({ thread: 'sthr_other' }))).toMatchObject(error);
    expect(await refusalOf(stepsOf(test, id, { thread: 'sthr_other' }))).toMatchObject(error);
  }));

it('[WS373] each conflict has its reason in words', () =>
  withUser(async (test, user) => {
    await user.write('data.bin', 'a\0b');
    await user.write('gone.txt', 'gone\n');
    await user.write('large.txt', 'small\n');
    user.git('add', '--all');
    user.git('commit', '--quiet', '--message=more');
    const command = "printf 'a\\0c' > data.bin; echo theirs > gone.txt; echo theirs > large.txt; rm src/main.ts";
    const id = await createRecorded(test, [[bash(command)], done], { path: user.path });
    await say(test, id);
    await user.write('data.bin', 'a\0d');
    await rm(join(user.path, 'gone.txt'));
    await user.write('src/main.ts', 'ours\n');
    const textsOf = async (body: object = {}) => {
      const { details } = await refusalOf(changesOf(test, id).apply(body));
      return (details['files'] as { path: string; text: string }[]).map(({ path, text }) => `${path}: ${text}`);
    };
    expect(await textsOf()).toEqual([
      'data.bin: both sides changed the file, which is not text',
      'gone.txt: you deleted the file, and the session changed it',
      'src/main.ts: the session deleted the file, and you changed it',
    ]);
    await truncate(join(user.path, 'large.txt'), snapshotLimits.fileBytesMax + 1);
    expect(await textsOf({ paths: ['large.txt'] })).toEqual([
      'large.txt: your file cannot be read, is larger than 10 MB, or is not a regular file',
    ]);
    const { workspace } = await changesOf(test, id).list();
    await writeFile(join(workspace!, 'gone.txt'), 'later\n');
    const { details } = await refusalOf(changesOf(test, id).restore({ at: 'start' }));
    expect(details['files']).toEqual([
      { path: 'gone.txt', reason: 'content', places: null, text: 'changed after the session wrote it' },
    ]);
  }));

it('[WS374] paths without changes are all named in the error, up to 200', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('a.txt', 'one\n')], done], { path: user.path });
    await say(test, id);
    const { apply } = changesOf(test, id);
    const paths = ['a.txt', 'src', 'none.txt'];
    expect(await refusalOf(apply({ paths }))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      message: expect.stringContaining('nothing has changed in src'),
      details: { unchanged_paths: ['src', 'none.txt'] },
    });
    const many = Array.from({ length: 201 }, (_, at) => `none-${at}`);
    const { details } = await refusalOf(apply({ paths: many }));
    expect(details['unchanged_paths']).toEqual(many.slice(0, 200));
    await expect(readFile(join(user.path, 'a.txt'))).rejects.toThrow();
  }));

it('[WS375] a directory that is not allowed is refused with the flag and the directory that would allow it', () =>
  withRepository((user) =>
    withServer(
      async (test) => {
        const path = join(user.root, 'other');
        await mkdir(path);
        const error = await createRecorded(test, [done], { path }).catch((thrown: unknown) => thrown);
        const { status, error: body } = error as {
          status: number;
          error: { error: { message: string; details: object } };
        };
        expect([status, body.error.message]).toEqual([
          403,
          `path: ${path} is not in a directory that this server allows (it allows ${user.path}): start the server with --allow-directory ${path}, or ask its operator to`,
        ]);
        expect(body.error.details).toEqual({ error_code: 'directory_not_allowed', path });
      },
      { allowedDirectories: [user.path] },
    ),
  ));

it('[WS376] the error of a directory that is in use names the command that releases it', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [done], { path: user.path, mode: 'in_place' });
    const second = () => createRecorded(test, [done], { path: user.path, mode: 'in_place' });
    await expect(second()).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining(`(fleetloom archive ${id})`),
    });
    await test.client.beta.sessions.archive(id);
    await second();
  }));

it('[WS377] the fleet stream reports that changes were applied or discarded, and by which key', () =>
  withUser(async (test, user) => {
    const id = await createRecorded(test, [[write('a.txt', 'one\n')], done], { path: user.path });
    await say(test, id);
    const changes = changesOf(test, id);
    await changes.apply();
    await changes.apply({ onto: 'branch', branch: 'taken' });
    await changes.discard();
    const events = await readUntil(test, id, 'workspace_discarded');
    const { applied } = await changes.list();
    expect(events.filter(({ type }) => /^workspace_(applied|discarded)$/.test(type))).toMatchObject([
      {
        type: 'workspace_applied',
        by: applied[0]!.by,
        onto: 'working_tree',
        paths_count: 1,
        branch: null,
        commit: null,
      },
      { type: 'workspace_applied', onto: 'branch', paths_count: 1, branch: 'taken', commit: applied[1]!.commit },
      { type: 'workspace_discarded', by: applied[0]!.by, session_id: id },
    ]);
    const types: string[] = [];
    for await (const event of test.client.beta.sessions.events.list(id)) types.push(event.type);
    expect(types.filter((type) => type.includes('workspace'))).toEqual([]);
  }));

it(
  '[WS379] the diffs of all changed files come in pages of up to 1,000, and each is the one that its file has alone',
  () =>
    withUser(async (test, user) => {
      await user.write('gone.txt', 'gone\n');
      await user.write('link', 'a file\n');
      await user.write('run.sh', 'echo\n');
      await user.write('data.bin', 'a\0b');
      user.git('add', '--all');
      user.git('commit', '--quiet', '--message=more');
      const command = [
        'rm gone.txt link; ln -s README.md link; chmod +x run.sh; printf "a\\0c" > data.bin',
        'echo "diff --git a/x b/x" >> README.md; touch empty; echo x > "a b\'c"; mkdir README.d; echo y > README.d/y',
        'printf "no newline" > src/main.ts; rm .gitignore; mkdir .gitignore; echo z > .gitignore/z',
        'yes line | head -c 3000000 > large.txt',
      ].join('; ');
      const id = await createRecorded(test, [[bash(command)], done], { path: user.path });
      await say(test, id);
      const changes = changesOf(test, id);
      const paths = (await changes.list()).files.map(({ path }) => path);
      expect(paths).toHaveLength(12);
      const all = await changes.diffs();
      expect([all.diffs.map(({ path }) => path), all.next_after]).toEqual([paths, null]);
      const alone: WorkspaceDiff[] = [];
      for (const path of paths) alone.push(await changes.diff({ path }));
      expect(all.diffs).toEqual(alone);
      expect(all.diffs.find(({ path }) => path === 'large.txt')).toMatchObject({ diff: null, omitted: 'too_large' });
      expect(all.diffs.find(({ path }) => path === 'link')!.diff!.match(/^diff --git /gm)).toHaveLength(2);
      // Page by page, with any size.
      for (const limit of [1, 5, 11]) {
        const pages = await readPages(test, id, { limit: String(limit) });
        expect([limit, pages.map(({ length }) => length <= limit), pages.flat()]).toEqual([
          limit,
          pages.map(() => true),
          alone,
        ]);
      }
      const [first] = (await changes.diffs({ context: '0' })).diffs;
      expect(first).toEqual(await changes.diff({ path: paths[0]!, context: '0' }));
      expect(changesLimits.diffsMax).toBe(1_000);
      expect((await changes.diffs({ limit: '1000' })).diffs).toHaveLength(12);
      expect(await refusalOf(changes.diffs({ limit: '1001' }))).toMatchObject({ status: 400 });
    }),
  120_000,
);

it(
  '[WS379] a page of diffs ends before it has more than 8 MiB',
  () =>
    withUser(async (test, user) => {
      expect(changesLimits.diffsCharsMax).toBe(8 * 1024 * 1024);
      // The diffs have 0.9 MB each.
      const make = 'for i in $(seq 10 19); do yes 12345678 | head -c 810000 > $i.txt; done';
      const id = await createRecorded(test, [[bash(make)], done], { path: user.path });
      await say(test, id);
      const pages = await readPages(test, id, {});
      expect(pages.map(({ length }) => length)).toEqual([9, 1]);
      expect(pages.flat().every(({ diff }) => diff !== null && diff.length > 890_000)).toBe(true);
    }),
  120_000,
);

it(
  '[WS379] diffs of more than 32 MiB together are read one by one',
  () =>
    withUser(async (test, user) => {
      expect(changesLimits.diffsBytesMax).toBe(32 * 1024 * 1024);
      const make =
        'for i in 1 2 3 4 5; do yes 12345678901234567890 | head -c 7000000 > $i.txt; done; echo x > small.txt';
      const id = await createRecorded(test, [[bash(make)], done], { path: user.path });
      await say(test, id);
      const { diffs } = await changesOf(test, id).diffs();
      expect(diffs.map(({ path, omitted }) => [path, omitted])).toEqual([
        ...[1, 2, 3, 4, 5].map((name) => [`${name}.txt`, 'too_large']),
        ['small.txt', null],
      ]);
      expect(diffs.at(-1)!.diff).toContain('+x\n');
    }),
  120_000,
);

async function readPages(test: TestServer, id: string, query: Record<string, string>): Promise<WorkspaceDiff[][]> {
  const pages: WorkspaceDiff[][] = [];
  for (let after: string | null = null; ; ) {
    const page: WorkspaceDiffs = await changesOf(test, id).diffs({ ...query, ...(after === null ? {} : { after }) });
    pages.push([...page.diffs]);
    after = page.next_after;
    if (after === null) return pages;
  }
}

async function stepsOf(
  { url, key }: Pick<TestServer, 'url' | 'key'>,
  id: string,
  query: Record<string, string> = {},
): Promise<WorkspaceSteps> {
  return await changesOf({ url, key }, id).steps(query);
}

async function readUntil({ url, key }: TestServer, id: string, last: FleetEvent['type']): Promise<FleetEvent[]> {
  const response = await fetch(`${url}/v1/sessions/${id}/fleet?after=0`, {
    headers: { 'x-api-key': key },
    signal: AbortSignal.timeout(20_000),
  });
  const decoder = new SseDecoder();
  const events: FleetEvent[] = [];
  for await (const bytes of response.body!) {
    for (const item of decoder.push(bytes)) if (item.type === 'event') events.push(parseFleetEvent(item));
    if (events.at(-1)?.type === last) break;
  }
  return events;
}

/** Runs with a server that allows the directory of a user's repository. */
function withUser(run: (test: TestServer, user: UserRepository) => Promise<void>): Promise<void> {
  return withRepository((user) =>
    withServer((test) => run(test, user), { allowedDirectories: [user.root], allowUnsandboxedBash: true }),
  );
}
