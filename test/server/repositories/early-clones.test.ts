import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openBashSession } from './repositories.suite.ts';
import { withServer } from '../server.suite.ts';
import { openGitServer } from '../../../packages/server/src/workspaces/clone/git-server.suite.ts';

it('[WS339] a repository is cloned when its session is created, before any message', async () => {
  const host = await openGitServer();
  const url = host.addRepository('team/app', { 'a.txt': 'a\n' });
  host.allow('team/app', null, 'read');
  await withServer(
    async (test) => {
      const { id, next, errors } = await openBashSession(
        test.client,
        [{ type: 'github_repository', url } as never],
        ['cat /workspace/app/a.txt'],
      );
      const isThere = () => existsSync(join(test.directory, 'workspaces', id, 'app/a.txt'));
      await expect.poll(isThere, { timeout: 20_000 }).toBe(true);
      const asked = host.requests.length;
      expect(await next()).toContain('a');
      expect([host.requests.length, await errors()]).toEqual([asked, []]);
    },
    { gitHosts: [host.origin] },
  );
});
