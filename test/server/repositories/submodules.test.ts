import { expect, it, vi } from 'vitest';
import { openBashSession, type Resource } from './repositories.suite.ts';
import { withServer } from '../server.suite.ts';
import { openGitServer } from '../../../packages/server/src/workspaces/clone/git-server.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

it('[WS615] an agent fetches a submodule whose repository is a resource of the session, with its own token', async () => {
  const host = await openGitServer();
  const library = host.addRepository('team/app-library', { 'lib.txt': 'library\n' });
  const commit = host.git('team/app-library', 'rev-parse', 'main');
  const app = host.addRepository('team/app', {
    '.gitmodules': `[submodule "library"]\n\tpath = library\n\turl = ../app-library\n`,
  });
  const tree = host.git('team/app', 'rev-parse', 'main^{tree}');
  const blob = host.git('team/app', 'rev-parse', `${tree}:.gitmodules`);
  host.git('team/app', 'update-index', '--add', '--cacheinfo', `100644,${blob},.gitmodules`);
  host.git('team/app', 'update-index', '--add', '--cacheinfo', `160000,${commit},library`);
  const made = host.git('team/app', 'commit-tree', host.git('team/app', 'write-tree'), '-p', 'main', '-m', 'submodule');
  host.git('team/app', 'update-ref', 'refs/heads/main', made);
  host.allow('team/app', 'ghp_app', 'read');
  host.allow('team/app-library', 'ghp_library', 'read');
  await withServer(
    async ({ client }) => {
      const resources = [
        { type: 'github_repository', url: app, authorization_token: 'ghp_app' },
        { type: 'github_repository', url: library, authorization_token: 'ghp_library' },
      ] as readonly Resource[];
      const { next, errors } = await openBashSession(client, resources, [
        'ls app/library | wc -l',
        'cd app && git submodule --quiet update --init 2>&1; cat library/lib.txt; git submodule status',
      ]);
      expect(await next()).toBe('0');
      expect(await next()).toMatch(new RegExp(`^library\\n ${commit} library`));
      expect(await errors()).toEqual([]);
    },
    { gitHosts: [host.origin] },
  );
});
