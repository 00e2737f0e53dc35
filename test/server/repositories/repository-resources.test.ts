import type { APIError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { Resource } from './repositories.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';

const url = 'https://github.com/owner/repository';
const repository = { type: 'github_repository' as const, url, authorization_token: 'ghp_canary' };

describe('repositories as resources of a session', () => {
  it('[WS195] only a token can be replaced, and only files are added and removed', async () =>
    withServer(async (test) => {
      const { resources } = test.client.beta.sessions;
      const file = await test.client.beta.files.upload({ file: new File(['a'], 'a.txt') });
      const { id, resources: made } = await create(test, [repository, { type: 'file', file_id: file.id }]);
      const [attached, mounted] = made.map((resource) => ({ id: (resource as { id: string }).id })) as [
        { id: string },
        { id: string },
      ];
      const update = (resourceId: string, token = 'ghp_other') =>
        resources.update(resourceId, { session_id: id, authorization_token: token });
      expect(await statusOf(update(mounted.id))).toEqual([400, expect.stringContaining('is a file, which has none')]);
      expect(await statusOf(update('sesrsc_none'))).toEqual([404, expect.any(String)]);
      expect(await statusOf(update(attached.id, 'a b'))).toEqual([400, expect.stringContaining('authorization_token')]);
      expect(await statusOf(update(attached.id, 'a'.repeat(4_097)))).toEqual([400, expect.any(String)]);
      expect(await update(attached.id, 'a'.repeat(4_096))).toMatchObject({ id: attached.id, url });
      expect(await statusOf(resources.delete(attached.id, { session_id: id }))).toEqual([400, expect.any(String)]);
      expect(await statusOf(resources.add(id, repository as never))).toEqual([400, expect.any(String)]);
      expect(await resources.delete(mounted.id, { session_id: id })).toMatchObject({
        type: 'session_resource_deleted',
      });
      const listed = [];
      for await (const resource of resources.list(id)) listed.push(resource);
      expect(listed).toEqual([await resources.retrieve(attached.id, { session_id: id })]);
      expect(Object.keys(listed[0]!).sort()).toEqual(
        ['checkout', 'created_at', 'id', 'mount_path', 'type', 'updated_at', 'url'].sort(),
      );
    }));

  it.each<[string, readonly object[], string]>([
    ['an ssh URL', [{ ...repository, url: 'git@github.com:owner/repository' }], 'ssh is not supported'],
    ['a .git suffix', [{ ...repository, url: `${url}.git` }], 'ends with .git'],
    ['another host', [{ ...repository, url: 'https://gitlab.com/owner/repository' }], '--git-host gitlab.com'],
    ['a short SHA', [{ ...repository, checkout: { type: 'commit', sha: 'abc1234' } }], 'sha'],
    ['a path outside', [{ ...repository, mount_path: '/etc/repository' }], 'mount_path'],
    ['one path twice', [repository, repository], 'is taken'],
    [
      'nested paths',
      [repository, { ...repository, mount_path: '/workspace/repository/inner' }],
      'one inside the other',
    ],
    ['a credential of a github_repository', [{ ...repository, credential_id: 'vcrd_1' }], 'credential_id'],
    [
      'an ssh URL of git_repository',
      [{ type: 'git_repository', url: 'ssh://git@example.com/a' }],
      'ssh is not supported',
    ],
    ['a file URL', [{ type: 'git_repository', url: 'file:///etc' }], '--allow-directory'],
    ['an empty token', [{ ...repository, authorization_token: '' }], 'authorization_token'],
    ['a token of git_repository', [{ ...repository, type: 'git_repository' }], 'authorization_token'],
  ])('[WS180] a session with %s is refused and leaves nothing', async (_, resources, problem) =>
    withServer(async (test) => {
      const [status, message] = await statusOf(create(test, resources as readonly Resource[]));
      expect([400, 403]).toContain(status);
      expect(message).toContain(problem);
      expect(message).not.toContain('canary');
      expect((await test.client.beta.sessions.list()).data).toEqual([]);
    }),
  );

  it('[WS183] a file inside of a repository is refused', async () =>
    withServer(async (test) => {
      const file = await test.client.beta.files.upload({ file: new File(['a'], 'a.txt') });
      const inside = { type: 'file' as const, file_id: file.id, mount_path: '/workspace/repository/a.txt' };
      expect(await statusOf(create(test, [repository, inside]))).toEqual([
        400,
        expect.stringContaining('which is a repository'),
      ]);
      const beside = { ...inside, mount_path: '/workspace/repository.txt' };
      expect((await create(test, [repository, beside])).resources).toHaveLength(2);
    }));
});

async function create({ client }: TestServer, resources: readonly Resource[]) {
  const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/inline' });
  const environment = await client.beta.environments.create({ name: 'here' });
  return await client.beta.sessions.create({
    agent: agent.id,
    environment_id: environment.id,
    resources: [...resources],
  });
}

async function statusOf(work: PromiseLike<unknown>): Promise<[number, string]> {
  return await Promise.resolve(work).then(
    () => [200, ''],
    (error: APIError) => [error.status as number, error.message],
  );
}
