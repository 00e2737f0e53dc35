import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAllowedDirectories } from '../sources/allowed-directories.ts';
import { checkMountPaths, checkRepository } from './check-repository.ts';
import { toGitHosts } from '../relay/git-hosts.ts';

const url = 'https://github.com/owner/repository';

function check(params: object, hosts: readonly string[] = []) {
  const rules = { hosts: toGitHosts(hosts), directories: createAllowedDirectories([], '/nonexistent') };
  return checkRepository({ type: 'github_repository', url, ...params }, rules);
}

describe('the URL of a repository', () => {
  it('[WS180] of github.com is accepted, and mounted by its name unless a path is given', async () => {
    expect(await check({})).toEqual({ url, mount_path: '/workspace/repository', checkout: null });
    const checkout = { type: 'branch', name: 'release/1.0' };
    expect(await check({ mount_path: '/workspace/a/b', checkout })).toEqual({
      url,
      mount_path: '/workspace/a/b',
      checkout,
    });
    expect((await check({ url: 'https://GitHub.com/Owner/a.b-c_d' })).url).toBe('https://github.com/Owner/a.b-c_d');
  });

  it.each([
    ['ssh', 'git@github.com:owner/repository', 'ssh is not supported'],
    ['ssh', 'ssh://git@github.com/owner/repository', 'ssh is not supported'],
    ['a .git suffix', `${url}.git`, 'ends with .git'],
    ['another host', 'https://gitlab.example.com/owner/repository', '--git-host gitlab.example.com'],
    ['another port', 'https://github.com:8443/owner/repository', '--git-host github.com:8443'],
    ['no encryption', 'http://github.com/owner/repository', '--git-host http://github.com'],
    ['a file', 'file:///etc', 'is not the https URL of a repository'],
    ['a program', 'ext::sh -c id', 'is not the https URL of a repository'],
    ['an option', '--upload-pack=id', 'is not the https URL of a repository'],
    ['only an owner', 'https://github.com/owner', 'is not the URL of a repository'],
    ['a deeper path', `${url}/tree/main`, 'is not the URL of a repository'],
    ['a trailing slash', `${url}/`, 'is not the URL of a repository'],
    ['a query', `${url}?x=1`, 'is not the URL of a repository'],
    ['encoded characters', 'https://github.com/owner/%2e%2e%2fother', 'is not the URL of a repository'],
    ['a line break', 'https://github.com/owner/a%0a[core]', 'is not the URL of a repository'],
    ['dots', 'https://github.com/owner/..', 'is not the URL of a repository'],
  ])('[WS180] with %s is refused: %s', async (_, given, problem) => {
    await expect(check({ url: given })).rejects.toThrow(problem);
  });

  it('[WS180] with a password is refused without repeating it', async () => {
    const outcome = await check({ url: 'https://x:ghp_canary@github.com/owner/repository' }).catch(String);
    expect(outcome).toContain('send the token as authorization_token');
    expect(outcome).not.toContain('canary');
  });

  it('[WS181] of another host is accepted where the operator names the host', async () => {
    const given = 'https://gitlab.example.com/group/subgroup/repository';
    expect(await check({ url: given }, ['gitlab.example.com'])).toMatchObject({
      url: given,
      mount_path: '/workspace/repository',
    });
    expect((await check({ url: given }, ['*'])).url).toBe(given);
    expect((await check({ type: 'git_repository', url: `${given}.git` }, ['*'])).mount_path).toBe(
      '/workspace/repository',
    );
    await expect(check({ url: 'http://gitlab.example.com/group/repository' }, ['*'])).rejects.toThrow(
      '--git-host http://',
    );
    expect((await check({ url: 'http://10.0.0.7:3000/a/b' }, ['http://10.0.0.7:3000'])).url).toBe(
      'http://10.0.0.7:3000/a/b',
    );
  });

  it('[WS181] `*` covers no private host: only a host that is named may be private', () => {
    expect(toGitHosts(['*']).privateHosts).toEqual([]);
    expect(toGitHosts(['*', 'git.internal', 'http://10.0.0.7:3000']).privateHosts).toEqual([
      'git.internal:443',
      '10.0.0.7:3000',
    ]);
  });

  it.each(['https://a.example/path', 'a b', '*.example.com', 'ftp://a.example', ''])(
    '[WS181] %j is not a git host',
    (entry) => {
      expect(() => toGitHosts([entry])).toThrow('is not a git host');
    },
  );
});

describe('a file URL', () => {
  it('[WS182] is accepted below a directory that the operator allows, also through a link, and nowhere else', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-file-url-')));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const name of ['allowed/code.git', 'outside/code']) mkdirSync(join(root, name), { recursive: true });
    symlinkSync(join(root, 'outside'), join(root, 'allowed', 'link'));
    const rules = {
      hosts: toGitHosts(),
      directories: createAllowedDirectories([join(root, 'allowed')], '/nonexistent'),
    };
    const of = (path: string) => checkRepository({ type: 'git_repository', url: `file://${path}` }, rules);
    const found = await of(join(root, 'allowed/code.git'));
    expect(found).toEqual({
      url: pathToFileURL(join(root, 'allowed/code.git')).href,
      mount_path: '/workspace/code',
      checkout: null,
    });
    await expect(of(join(root, 'outside/code'))).rejects.toThrow('--allow-directory');
    await expect(of(join(root, 'allowed/link/code'))).rejects.toThrow('--allow-directory');
    await expect(of(`${root}/allowed/code.git?x`)).rejects.toThrow('is not a URL of a directory');
    await expect(checkRepository({ type: 'git_repository', url: 'file://host/code' }, rules)).rejects.toThrow(
      'is not a URL',
    );
  });
});

describe('where a repository is mounted', () => {
  it.each([
    '/workspace',
    '/workspace/',
    '/etc',
    'workspace/a',
    '/workspace/../etc',
    '/workspace/a/',
    '/workspace//a',
    '/workspace/.git',
    '/workspace/a/.GIT/b',
    '/workspace/.fleetloom',
    '/workspace/a\nb',
    `/workspace/${'a'.repeat(256)}`,
  ])('[WS183] %j is refused', async (path) => {
    await expect(check({ mount_path: path })).rejects.toThrow('is not a path for a repository');
  });

  it('[WS183] two paths are neither the same nor one inside the other', () => {
    checkMountPaths(['/workspace/a', '/workspace/ab', '/workspace/b/a']);
    expect(() => checkMountPaths(['/workspace/a', '/workspace/a'])).toThrow('/workspace/a is taken');
    expect(() => checkMountPaths(['/workspace/a', '/workspace/a/b'])).toThrow('one inside the other');
    expect(() => checkMountPaths(['/workspace/a/b', '/workspace/c', '/workspace/a'])).toThrow('one inside the other');
  });
});

describe('what is checked out', () => {
  it.each(['abc1234', 'A'.repeat(40), '0'.repeat(41), 'HEAD'])('[WS180] %s is not a full commit', async (sha) => {
    await expect(check({ checkout: { type: 'commit', sha } })).rejects.toThrow('is not a commit');
  });

  it.each([
    '-x',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a//b',
    '/a',
    'a/',
    'a.lock',
    '.a',
    'a/.b',
    'a@{1}',
    '@',
    'HEAD',
    'a\u0000',
  ])('[WS180] %j is not a branch', async (name) => {
    await expect(check({ checkout: { type: 'branch', name } })).rejects.toThrow('is not a branch');
  });
});
