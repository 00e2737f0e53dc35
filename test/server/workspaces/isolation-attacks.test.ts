import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  bash,
  delegate,
  done,
  mergeNamed,
  resultsOf,
  runFleet,
  threadOf,
  withUser,
  worktreeOf,
  write,
} from './isolation.suite.ts';
import { framesOf, say } from './snapshots.suite.ts';

it('[WS318] hooks, filters, links and a broken HEAD in the git directory of the session run nothing and lead nowhere when a worktree is made from it', () =>
  withUser(async (test, user) => {
    const marker = join(user.outside, 'marker');
    writeFileSync(join(user.outside, 'secret'), 'secret\n');
    const hook = `#!/bin/sh\ntouch ${marker} "$(dirname "$0")/ran"\n`;
    const attack = [
      'D=$(git rev-parse --absolute-git-dir)',
      `printf '%s' '${hook}' > $D/hooks/post-checkout; cp $D/hooks/post-checkout $D/hooks/reference-transaction; chmod +x $D/hooks/*`,
      `git config core.hooksPath $D/hooks; git config core.fsmonitor $D/hooks/post-checkout; git config filter.x.smudge "touch $D/hooks/ran"`,
      `git config alias.read-tree "!touch $D/hooks/ran"; git config core.sshCommand "touch $D/hooks/ran"`,
      "echo '* filter=x' > .gitattributes; mkdir -p $D/info; echo '* filter=x' > $D/info/attributes",
      `ln -s ${user.outside} $D/worktrees`,
      'echo not-a-ref > $D/HEAD; echo $D > gitdir.txt',
    ].join('; ');
    const child = [[bash('cat README.md; ls; git rev-parse --is-inside-work-tree')], done];
    const script = [[bash(attack)], [delegate(['child'])], done];
    const id = await runFleet(test, { agents: { child }, script, resource: { path: user.path } });
    const git = readFileSync(join(test.directory, 'workspaces', id, 'gitdir.txt'), 'utf8').trim();
    expect([existsSync(marker), existsSync(join(git, 'hooks/ran'))]).toEqual([false, false]);
    expect(existsSync(join(git, 'hooks/post-checkout'))).toBe(true);
    // Either it works, or the reason is the result; nothing was written through the link.
    const [{ text }] = (await resultsOf(test, id, 'delegate')) as [{ text: string; isError: boolean }];
    expect(text).toMatch(/git cannot add a worktree|its own worktree/);
    expect(existsSync(join(user.outside, await threadOf(test, id, 'child')))).toBe(false);
  }));

it('[WS318] links in the workspace of the session are not followed into a new worktree, nor out of one by a merge', () =>
  withUser(async (test, user) => {
    writeFileSync(join(user.outside, 'secret'), 'secret\n');
    mkdirSync(join(user.outside, 'uploads'));
    writeFileSync(join(user.outside, 'uploads/secret'), 'secret\n');
    const links = `rm -rf .fleetloom/session; ln -s ${user.outside} .fleetloom/session; ln -s ${user.outside} out`;
    const child = [[bash('rm out; mkdir out; echo x > out/new.txt; find . -name "secret*"')], done];
    const script = [
      [bash(links)],
      [delegate(['child'])],
      [bash(`rm -f out; mkdir -p out; rmdir out; ln -s ${user.outside} out2`)],
      done,
      [mergeNamed],
      done,
    ];
    const id = await runFleet(test, { agents: { child }, script, resource: { path: user.path } });
    const thread = await threadOf(test, id, 'child');
    expect(existsSync(join(worktreeOf(test, id, thread), '.fleetloom/session/uploads/secret'))).toBe(false);
    await say(test, id, thread);
    expect(existsSync(join(user.outside, 'new.txt'))).toBe(false);
  }));

it('[WS318] an isolated thread reaches neither the workspace of its session nor the worktree of another thread', () =>
  withUser(async (test, user) => {
    const spy = (own: string) => [
      [write('mine.txt', own), bash('sleep 1')],
      [
        bash(
          `cat ${test.directory}/workspaces/*/by-main.txt ${test.directory}/workspaces/*.threads/*/mine.txt; cat ../*/mine.txt`,
        ),
      ],
      done,
    ];
    const script = [[write('by-main.txt', 'by main\n')], [delegate(['one', 'two'])], done];
    const agents = { one: spy('one\n'), two: spy('two\n') };
    const id = await runFleet(test, { agents, script, resource: { path: user.path } });
    const frames = await framesOf(test, id);
    for (const name of ['one', 'two']) {
      const thread = await threadOf(test, id, name);
      const results = frames.flatMap(({ type, thread_id, payload }) =>
        type === 'agent.tool_result' && thread_id === thread ? [JSON.stringify(payload.content)] : [],
      );
      expect(results.at(-1)).not.toContain(name === 'one' ? 'two\\n' : 'one\\n');
      expect(results.at(-1)).not.toContain('by main');
    }
  }));

it('[WS319] a clone of a session is there for an isolated thread with its git directory, and its changes are merged', () =>
  withUser(async (test, user) => {
    const child = [[bash('cd /workspace/project && git log --oneline | wc -l && echo child > README.md')], done];
    const resources = [{ type: 'git_repository', url: `file://${user.path}` }];
    const script = [[delegate(['child'])], done, [mergeNamed], done];
    const id = await runFleet(test, { agents: { child }, script, resource: null, resources });
    expect((await resultsOf(test, id, 'bash'))[0]).toEqual({ text: expect.stringMatching(/^2$/m), isError: false });
    await say(test, id, await threadOf(test, id, 'child'));
    expect(readFileSync(join(test.directory, 'workspaces', id, 'project/README.md'), 'utf8')).toBe('child\n');
  }));
