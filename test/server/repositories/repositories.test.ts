import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { noSandbox } from '../../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { type GitServer, openGitServer } from '../../../packages/server/src/workspaces/clone/git-server.suite.ts';
import { exported } from '../programs/programs.suite.ts';
import { follow, openBashSession, type Resource } from './repositories.suite.ts';
import { withServer } from '../server.suite.ts';

// Processes are started, and a busy machine takes its time for them.
vi.setConfig({ testTimeout: 120_000 });

const TOKEN = 'ghp_canary0123456789';

describe.skipIf(noSandbox !== undefined)('a repository of a session', () => {
  it('[WS184] is cloned before the first model request, at its default path and branch', async () => {
    const { host, url } = await openApp();
    await withServer(
      async ({ client }) => {
        const { session, next, errors } = await openBashSession(
          client,
          [{ type: 'github_repository', url, authorization_token: TOKEN }],
          [
            'cd app && cat README.md src/a.txt && git status -sb && git config remote.origin.url && git log --format=%s',
          ],
        );
        expect(session.resources).toEqual([
          {
            type: 'github_repository',
            id: expect.stringMatching(/^sesrsc_/),
            url,
            checkout: null,
            mount_path: '/workspace/app',
            created_at: expect.any(String),
            updated_at: expect.any(String),
          },
        ]);
        expect(await next()).toBe(`helloa## main...origin/main\n${url}\nfirst`);
        expect(await errors()).toEqual([]);
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS185] is checked out at a branch or a commit, also one that no branch leads to, at the path that was asked for', async () => {
    const { host, url } = await openApp();
    const first = host.git('team/app', 'rev-parse', 'main');
    const tree = host.git('team/app', 'rev-parse', 'main^{tree}');
    const topic = host.git('team/app', 'commit-tree', tree, '-p', first, '-m', 'topic');
    host.git('team/app', 'update-ref', 'refs/heads/feature/topic', topic);
    const hidden = host.git('team/app', 'commit-tree', tree, '-p', topic, '-m', 'hidden');
    const at = (name: string, checkout: object) =>
      ({
        type: 'github_repository',
        url,
        authorization_token: TOKEN,
        mount_path: `/workspace/${name}`,
        checkout,
      }) as Resource;
    await withServer(
      async ({ client }) => {
        const { next, errors } = await openBashSession(
          client,
          [
            at('deep/branch', { type: 'branch', name: 'feature/topic' }),
            at('first', { type: 'commit', sha: first }),
            at('hidden', { type: 'commit', sha: hidden }),
          ],
          [
            `for each in deep/branch first hidden; do git -C $each status -sb; git -C $each log -1 --format='%s %H'; done`,
          ],
        );
        expect(await next()).toBe(
          `## feature/topic...origin/feature/topic\ntopic ${topic}\n## HEAD (no branch)\nfirst ${first}\n## HEAD (no branch)\nhidden ${hidden}`,
        );
        expect(await errors()).toEqual([]);
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS184] an empty repository is cloned as one', async () => {
    const { host, url } = await openApp();
    host.git('team/app', 'update-ref', '-d', 'refs/heads/main');
    await withServer(
      async ({ client }) => {
        const resources = [{ type: 'github_repository' as const, url, authorization_token: TOKEN }];
        const { next, errors } = await openBashSession(client, resources, ['cd app && git status -sb']);
        expect(await next()).toContain('## No commits yet on main');
        expect(await errors()).toEqual([]);
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS184] git_repository is the same for any URL of an allowed host', async () => {
    const { host, url } = await openApp();
    host.allow('team/app', null, 'read');
    await withServer(
      async ({ client }) => {
        // The SDK's types do not have it.
        const resource = {
          type: 'git_repository',
          url: `${url}.git`,
          mount_path: '/workspace/code',
        } as unknown as Resource;
        const { session, next } = await openBashSession(
          client,
          [resource],
          ['cat code/README.md; cd code && git fetch 2>&1'],
        );
        expect(session.resources).toMatchObject([{ type: 'git_repository', url: `${url}.git`, checkout: null }]);
        expect(await next()).toBe('hello');
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS186] that cannot be cloned is a session.error of its type, its path is absent, and the session continues', async () => {
    const { host, url } = await openApp();
    host.addRepository('team/secret', { a: 'a' });
    host.allow('team/secret', TOKEN, 'forbidden');
    const missing = '0123456789012345678901234567890123456789';
    const token = { authorization_token: TOKEN };
    const of = (name: string, path: string, more: object) =>
      ({
        type: 'github_repository',
        url: `${host.origin}/${path}`,
        mount_path: `/workspace/${name}`,
        ...more,
      }) as Resource;
    await withServer(
      async ({ client }) => {
        const { next, errors } = await openBashSession(
          client,
          [
            of('none', 'team/app', {}),
            of('wrong', 'team/app', { authorization_token: 'ghp_wrong' }),
            of('forbidden', 'team/secret', token),
            of('missing', 'team/other', token),
            of('branch', 'team/app', { ...token, checkout: { type: 'branch', name: 'gone' } }),
            of('commit', 'team/app', { ...token, checkout: { type: 'commit', sha: missing } }),
            of('works', 'team/app', token),
          ],
          ['ls'],
        );
        expect(await next()).toBe('works');
        const shown = (await errors()).map((error) => [error.type, error.repository_url, error.retry_status.type]);
        expect(shown).toEqual([
          ['repository_authentication_error', url, 'retrying'],
          ['repository_authentication_error', url, 'retrying'],
          ['repository_forbidden_error', `${host.origin}/team/secret`, 'retrying'],
          ['repository_not_found_error', `${host.origin}/team/other`, 'retrying'],
          ['repository_checkout_error', url, 'retrying'],
          ['repository_checkout_error', url, 'retrying'],
        ]);
        const messages = (await errors()).map(({ message }) => message);
        expect(messages[4]).toBe(`${url} has no branch gone`);
        expect(messages[5]).toBe(`${url} has no commit ${missing}`);
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS187] is tried again when the session runs the next time, with the token that was given in the meantime', async () => {
    const { host, url } = await openApp();
    await withServer(
      async ({ client }) => {
        const { session, id, next, errors } = await openBashSession(
          client,
          [{ type: 'github_repository', url, authorization_token: 'ghp_old' }],
          ['ls', 'ls', 'ls app; rm -rf app', 'ls', 'ls'],
        );
        expect(await next()).not.toContain('app');
        expect(await next()).not.toContain('app');
        expect((await errors()).map(({ type }) => type)).toEqual(Array(2).fill('repository_authentication_error'));
        const { id: resourceId, updated_at } = session.resources[0] as { id: string; updated_at: string };
        const { resources } = client.beta.sessions;
        const rotated = await resources.update(resourceId, { session_id: id, authorization_token: TOKEN });
        expect(rotated).toEqual({ ...session.resources[0], updated_at: expect.any(String) });
        expect((rotated as { updated_at: string }).updated_at > updated_at).toBe(true);
        expect(await next()).toBe('README.md\nsrc');
        // An agent may delete it. It is not cloned again.
        expect(await next()).not.toContain('app');
        expect(await errors()).toHaveLength(2);
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS190] git push of a new branch and of main works from bash, with the token that the session has now', async () => {
    const { host, url } = await openApp();
    const commit = 'git commit -qam work && git push -q origin HEAD:';
    await withServer(
      async ({ client }) => {
        const { id, session, next } = await openBashSession(
          client,
          [{ type: 'github_repository', url, authorization_token: TOKEN }],
          [
            `cd app && echo 1 >> README.md && ${commit}refs/heads/topic && echo 2 >> README.md && ${commit}main && git fetch && git status -sb`,
            'git push origin HEAD:more 2>&1; echo "exit $?"',
            'git push -q origin HEAD:more 2>&1; echo "exit $?"',
          ],
          { type: 'limited', allowed_hosts: [] },
        );
        expect(await next()).toBe('## main...origin/main');
        expect(host.git('team/app', 'log', '--format=%s %an', 'main', '--')).toBe(
          'work Fleetloom\nwork Fleetloom\nfirst Ada',
        );
        expect(host.git('team/app', 'rev-parse', 'topic')).toBe(host.git('team/app', 'rev-parse', 'main~1'));
        host.allow('team/app', TOKEN, 'read');
        expect(await next()).toMatch(/remote: .*the token of this session may not do this\n(.*\n)*exit 128$/);
        host.allow('team/app', 'ghp_new', 'write');
        const { id: resourceId } = session.resources[0] as { id: string };
        await client.beta.sessions.resources.update(resourceId, { session_id: id, authorization_token: 'ghp_new' });
        expect(await next()).toBe('exit 0');
        expect(host.git('team/app', 'rev-parse', 'more')).toBe(host.git('team/app', 'rev-parse', 'main'));
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS191] another repository of the same host, and everything but git, is refused inside of the sandbox', async () => {
    const { host, url } = await openApp();
    host.addRepository('team/application', { a: 'secret' });
    host.allow('team/application', TOKEN, 'write');
    await withServer(
      async ({ client }) => {
        const base = '$(git -C app ls-remote --get-url)';
        const { next } = await openBashSession(
          client,
          [{ type: 'github_repository', url, authorization_token: TOKEN }],
          [
            `git ls-remote ${url}lication 2>&1`,
            `git ls-remote ${host.origin}/team/other 2>&1`,
            `for path in '' /HEAD /info/refs '/info/refs?service=git-upload-archive' '/info/refs?service=git-upload-pack&x=1' /../application.git/info/refs?service=git-upload-pack /objects/info/packs; do curl -s --path-as-is -o /dev/null -w '%{http_code} ' ${base}$path; done; curl -s ${base}/x`,
            `curl -s -o /dev/null -w '%{http_code} %{content_type}' "${base}/info/refs?service=git-upload-pack"`,
          ],
        );
        // Its URL begins like that of the repository. git asks its host itself, which the sandbox does not reach.
        expect(await next()).toMatch(
          new RegExp(`unable to access .*Failed to connect to 127.0.0.1 port ${new URL(host.origin).port}`),
        );
        expect(await next()).toMatch(/unable to access/);
        expect(await next()).toBe(
          `${'403 '.repeat(7)}only git fetch and git push of the repositories of this session are passed on`,
        );
        expect(await next()).toBe('200 application/x-git-upload-pack-advertisement');
        expect(host.requests.filter((each) => !each.includes('/team/app.git/'))).toEqual([]);
      },
      { gitHosts: [host.origin] },
    );
  });

  it.each([
    ['by default', undefined, [1, 0, 1]],
    ['all with --git-push all', 'all' as const, [0, 0, 0]],
    ['nothing with --git-push none', 'none' as const, [128, 128, 128]],
  ])('[WS192] deleting refs is refused %s', async (_, gitPush, codes) => {
    const { host, url } = await openApp();
    host.git('team/app', 'branch', 'old', 'main');
    host.git('team/app', 'tag', 'v1', 'main');
    await withServer(
      async ({ client }) => {
        const { next } = await openBashSession(
          client,
          [{ type: 'github_repository', url, authorization_token: TOKEN }],
          [
            'cd app && git push -q origin :old 2>&1; echo "exit $?"',
            'git push -q origin main:new 2>&1; echo "exit $?"',
            'git push -q origin main:newer :refs/tags/v1 2>&1; echo "exit $?"',
          ],
        );
        const outputs = [await next(), await next(), await next()];
        expect(outputs.map((text) => Number(/exit (\d+)$/.exec(text)?.[1]))).toEqual(codes);
        const refs = host.git('team/app', 'for-each-ref', '--format=%(refname)').split('\n');
        expect(refs).toEqual(
          {
            all: ['refs/heads/main', 'refs/heads/new', 'refs/heads/newer'],
            none: ['refs/heads/main', 'refs/heads/old', 'refs/tags/v1'],
            default: ['refs/heads/main', 'refs/heads/new', 'refs/heads/old', 'refs/tags/v1'],
          }[gitPush ?? 'default'],
        );
        if (gitPush === undefined)
          expect(outputs[0]).toContain('[remote rejected] old (this server does not allow deleting refs;');
        if (gitPush === 'none') expect(outputs[1]).toContain('this server does not allow git push');
      },
      { gitHosts: [host.origin], gitPush },
    );
  });

  it('[WS200] has its changes recorded: those of agents, not those of the clone or of its git directory', async () => {
    const { host, url } = await openApp();
    await withServer(
      async (test) => {
        const { id, next } = await openBashSession(
          test.client,
          [{ type: 'github_repository', url, authorization_token: TOKEN }],
          ['cd app && echo 1 > src/b.txt && git add . && git commit -qm b', 'echo 2 > src/b.txt'],
        );
        await next();
        await next();
        const frames = await exported(test, id);
        const opened = frames.findIndex(({ type }) => type === 'workspace.opened');
        expect(frames[opened]!.payload).toMatchObject({ source: 'repository', base: null });
        expect(opened).toBeLessThan(frames.findIndex(({ type }) => type === 'agent.tool_use'));
        const changes = frames
          .filter(({ type }) => type === 'workspace.changed')
          .map(({ payload }) => payload['files']);
        expect(changes).toEqual([
          [{ path: 'app/src/b.txt', status: 'added', added: 1, removed: 0 }],
          [{ path: 'app/src/b.txt', status: 'modified', added: 1, removed: 1 }],
        ]);
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS200] that is cloned later is recorded as a setup, and not as a change of the next tool call', async () => {
    const { host, url } = await openApp();
    await withServer(
      async (test) => {
        const { id, session, next } = await openBashSession(
          test.client,
          [{ type: 'github_repository', url, authorization_token: 'ghp_old' }],
          ['echo 1 > a', 'echo 2 > app/b'],
        );
        await next();
        const { id: resourceId } = session.resources[0] as { id: string };
        await test.client.beta.sessions.resources.update(resourceId, { session_id: id, authorization_token: TOKEN });
        await next();
        const changes = (await exported(test, id)).filter(({ type }) => type === 'workspace.changed');
        const shown = changes.map(({ payload: { cause, files } }) => [
          cause,
          (files as { path: string }[]).map(({ path }) => path),
        ]);
        expect(shown).toEqual([
          ['tool', ['a']],
          ['setup', ['app/README.md', 'app/src/a.txt']],
          ['tool', ['app/b']],
        ]);
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS197] a fork has its own clone at the same checkout, with a token of its own', async () => {
    const { host, url } = await openApp();
    await withServer(
      async ({ client }) => {
        const resources = [{ type: 'github_repository' as const, url, authorization_token: TOKEN }];
        const { id, session, next } = await openBashSession(client, resources, [
          'echo changed > app/README.md',
          'cat app/README.md; git -C app status --short',
        ]);
        await next();
        const forked = await client.post<{ id: string; resources: { id: string }[] }>(`/v1/sessions/${id}/fork`, {
          body: {},
        });
        expect(forked.resources).toMatchObject([{ type: 'github_repository', url, mount_path: '/workspace/app' }]);
        expect(forked.resources[0]!.id).not.toBe((session.resources[0] as { id: string }).id);
        await client.beta.sessions.delete(id);
        expect(await follow(client, forked.id).next()).toMatch(/\nchanged\n M README.md$/);
      },
      { gitHosts: [host.origin] },
    );
  });

  it('[WS199] a session that is deleted leaves neither its clone nor its token', async () => {
    const { host, url } = await openApp();
    await withServer(
      async ({ client, directory }) => {
        const resources = [{ type: 'github_repository' as const, url, authorization_token: TOKEN }];
        const { id, next } = await openBashSession(client, resources, ['ls app']);
        await next();
        expect(existsSync(join(directory, 'workspaces', '.clones', id))).toBe(true);
        await client.beta.sessions.delete(id);
        await expect.poll(() => existsSync(join(directory, 'workspaces', '.clones', id))).toBe(false);
        await expect.poll(() => existsSync(join(directory, 'workspaces', id))).toBe(false);
      },
      { gitHosts: [host.origin] },
    );
  });
});

/** A host with one repository, which the token may write. */
async function openApp(): Promise<{ host: GitServer; url: string }> {
  const host = await openGitServer();
  const url = host.addRepository('team/app', { 'README.md': 'hello', 'src/a.txt': 'a' });
  host.allow('team/app', TOKEN, 'write');
  return { host, url };
}
