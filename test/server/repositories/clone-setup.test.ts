import { expect, it, vi } from 'vitest';
import { framesOf, say, waitIdle } from '../workspaces/snapshots.suite.ts';
import { openBashSession, type Resource } from './repositories.suite.ts';
import { withServer } from '../server.suite.ts';
import { openGitServer } from '../../../packages/server/src/workspaces/clone/git-server.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

it('[WS611] the output of a setup command is logged before the workspace is opened, and its files are not changes of an agent', async () => {
  const { host, url } = await openApp();
  await withServer(
    async (test) => {
      const { client } = test;
      const resources = [{ type: 'github_repository', url, setup: 'echo ready; echo made > made.txt' } as Resource];
      const { id, session, next } = await openBashSession(client, resources, ['cat app/made.txt']);
      expect(session.resources).toMatchObject([{ type: 'github_repository', setup: expect.any(String) }]);
      expect(await next()).toBe('made');
      const frames = await framesOf(test, id);
      const workspace = frames.filter(({ type }) => type.startsWith('workspace.'));
      expect(workspace).toMatchObject([
        { type: 'workspace.setup', payload: { code: 0, output: 'ready\n' } },
        { type: 'workspace.opened' },
      ]);
      const fork = await client.post<{ id: string }>(`/v1/sessions/${id}/fork`, { body: {} });
      await waitIdle({ client }, fork.id);
      expect((await client.beta.sessions.retrieve(fork.id)).resources).toMatchObject([{ setup: expect.any(String) }]);
    },
    { gitHosts: [host.origin], allowUnsandboxedBash: true },
  );
});

it('[WS611] a setup command that fails ends the session with the command, its exit code and its last line', async () => {
  const { host, url } = await openApp();
  await withServer(
    async (test) => {
      const { client } = test;
      const resources = [
        { type: 'git_repository', url: `${url}.git`, setup: 'echo no such tool; exit 4' } as unknown as Resource,
      ];
      const { id, errors } = await openBashSession(client, resources, ['true']);
      await say(test, id);
      expect((await client.beta.sessions.retrieve(id)).status).toBe('terminated');
      const [error] = await errors();
      expect(error!.message).toBe(
        'the setup command `echo no such tool; exit 4` ended with exit code 4 (no such tool): correct it and create another session',
      );
      expect((await framesOf(test, id)).map(({ type }) => type)).not.toContain('workspace.opened');
    },
    { gitHosts: [host.origin], allowUnsandboxedBash: true },
  );
});

async function openApp() {
  const host = await openGitServer();
  const url = host.addRepository('team/app', { 'README.md': 'hello\n' });
  host.allow('team/app', null, 'read');
  return { host, url };
}
