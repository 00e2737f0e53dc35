import { expect, it, vi } from 'vitest';
import { openBashSession, type Resource } from './repositories.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';
import { openGitServer } from '../../../packages/server/src/workspaces/clone/git-server.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

const FIRST = 'glpat_canary_first';
const SECOND = 'glpat_canary_second';
const FETCH = 'git -C app fetch 2>&1';

it('[WS612, EG205] a credential of a vault is the token of a git_repository, read again for each request', async () => {
  const { host, url } = await openApp();
  await withServer(
    async (test) => {
      const { vault, credential, resource } = await addCredential(test, url);
      const { id, session, next, errors } = await openBashSession(
        test.client,
        [resource],
        ['cat app/README.md; env', FETCH, FETCH, FETCH],
      );
      expect(session.resources).toMatchObject([{ type: 'git_repository', credential_id: credential.id }]);
      const output = await next();
      expect(output).toContain('hello');
      expect(output).not.toContain('canary');
      expect(await next()).toBe('(no output)');
      // The host knows only the new token from now on.
      host.allow('team/app', FIRST, 'forbidden');
      host.allow('team/app', SECOND, 'read');
      const auth = { type: 'environment_variable' as const, secret_value: SECOND };
      await test.client.beta.vaults.credentials.update(credential.id, { vault_id: vault.id, auth });
      expect(await next()).toBe('(no output)');
      await test.client.beta.vaults.credentials.archive(credential.id, { vault_id: vault.id });
      expect(await next()).toContain('its host does not accept the token of this session, or needs one');
      expect(await errors()).toEqual([]);
      const exported = await fetch(`${test.url}/v1/sessions/${id}/export`, { headers: { 'x-api-key': test.key } });
      expect(await exported.text()).not.toContain('canary');
      const log = await fetch(`${test.url}/v1/fleet/audit`, { headers: { 'x-api-key': test.key } });
      const { data } = (await log.json()) as { data: { entry: Record<string, unknown> }[] };
      const used = data.filter(({ entry }) => entry['action'] === 'vault_credential.used').map(({ entry }) => entry);
      const details = { vault_id: vault.id, session_id: id, host: new URL(url).host, as: 'repository' };
      expect(used).toMatchObject([{ target: credential.id, details }]);
    },
    { gitHosts: [host.origin] },
  );
});

it('[WS612] a credential that is unknown, archived, for an MCP server or for other hosts is refused, also in an environment', async () => {
  const { host, url } = await openApp();
  await withServer(
    async (test) => {
      const { vaults, environments } = test.client.beta;
      const { vault, resource } = await addCredential(test, url);
      const add = async (auth: object) => (await vaults.credentials.create(vault.id, { auth: auth as never })).id;
      const variable = { type: 'environment_variable', secret_name: 'OTHER', secret_value: FIRST };
      const elsewhere = { type: 'limited', allowed_hosts: ['example.com', '*.example.org'] };
      const ids = {
        unknown: 'vcrd_none',
        archived: await add({ ...variable, networking: { type: 'unrestricted' } }),
        mcp: await add({ type: 'static_bearer', mcp_server_url: 'https://mcp.example.com', token: FIRST }),
      };
      await vaults.credentials.archive(ids.archived, { vault_id: vault.id });
      const other = await add({ ...variable, networking: elsewhere });
      for (const [id, problem] of [
        [ids.unknown, 'does not exist'],
        [ids.archived, 'is archived'],
        [ids.mcp, 'is a static_bearer, which is for an MCP server'],
        [other, 'may not be sent to 127.0.0.1'],
      ] as const) {
        const resources = [{ ...resource, credential_id: id }] as unknown as readonly Resource[];
        await expect(openBashSession(test.client, resources, [])).rejects.toThrow(problem);
        const made = environments.create({ name: id, ...({ resources } as object) });
        await expect(made).rejects.toThrow(problem);
      }
      expect((await test.client.beta.sessions.list()).data).toEqual([]);
    },
    { gitHosts: [host.origin] },
  );
});

/** A private repository whose host knows one token. */
async function openApp() {
  const host = await openGitServer();
  const url = host.addRepository('team/app', { 'README.md': 'hello\n' });
  host.allow('team/app', FIRST, 'read');
  return { host, url };
}

async function addCredential({ client }: Pick<TestServer, 'client'>, url: string) {
  const vault = await client.beta.vaults.create({ display_name: 'git' });
  const networking = { type: 'limited' as const, allowed_hosts: ['127.0.0.1'] };
  const credential = await client.beta.vaults.credentials.create(vault.id, {
    auth: { type: 'environment_variable', secret_name: 'HOST_TOKEN', secret_value: FIRST, networking },
  });
  // The SDK's types do not have it.
  const resource = { type: 'git_repository', url: `${url}.git`, credential_id: credential.id } as unknown as Resource;
  return { vault, credential, resource };
}
