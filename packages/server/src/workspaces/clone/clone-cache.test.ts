import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createGit } from '../git/run-git.ts';
import { workspaceLimits } from '../limits.ts';
import { createCloneCache } from './clone-cache.ts';
import { openGitServer, runGit } from './git-server.suite.ts';
import { openRepositoriesBench, SESSION } from './repositories.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

function openCache(cachesMax?: number) {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-cache-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, cache: createCloneCache({ git: createGit('git'), directory, cachesMax }) };
}

it('[WS335] a second clone of the same URL receives only what is new, has everything, and does not refer to the cache', async () => {
  const host = await openGitServer();
  const url = host.addRepository('team/app', { noise: randomBytes(300_000).toString('hex'), a: 'first\n' });
  host.allow('team/app', null, 'read');
  const { directory, cache } = openCache();
  const clone = async () => {
    const bench = openRepositoriesBench([host.origin], {}, { cache });
    bench.add('github_repository', url);
    const before = host.bytesSent;
    expect(await bench.prepare()).toEqual([]);
    return { path: join(bench.workspace, 'app'), sent: host.bytesSent - before };
  };
  const first = await clone();
  expect(readdirSync(directory)).toHaveLength(1);
  const packs = (path: string) => readdirSync(join(path, '.git/objects/pack')).filter((name) => name.endsWith('.pack'));
  // A commit that the cache does not have yet.
  writeFileSync(join(first.path, 'b'), 'second\n');
  runGit(first.path, 'add', '--all');
  runGit(first.path, 'commit', '--quiet', '--message=second');
  host.git('team/app', 'fetch', '--quiet', first.path, 'HEAD:main');
  const second = await clone();
  expect(first.sent).toBeGreaterThan(300_000);
  expect(second.sent).toBeLessThan(10_000);
  expect(readFileSync(join(second.path, 'b'), 'utf8')).toBe('second\n');
  expect(existsSync(join(second.path, '.git/objects/info/alternates'))).toBe(false);
  rmSync(directory, { recursive: true });
  runGit(second.path, 'fsck', '--full', '--strict');
  expect(packs(second.path).length).toBeGreaterThan(0);
});

it('[WS336] a session whose token the host does not accept gets nothing from the cache', async () => {
  const host = await openGitServer();
  const url = host.addRepository('team/private', { secret: 'secret\n' });
  host.allow('team/private', 'good', 'read');
  const { directory, cache } = openCache();
  const prepare = async (token: string | undefined) => {
    const bench = openRepositoriesBench([host.origin], {}, { cache });
    const id = bench.add('github_repository', url);
    if (token !== undefined) await bench.tokens.put(SESSION, { [id]: token });
    return { bench, problems: await bench.prepare() };
  };
  expect((await prepare('good')).problems).toEqual([]);
  const cached = readdirSync(directory);
  const served = host.requests.filter((request) => request.startsWith('POST'));
  for (const token of ['bad', undefined]) {
    const { bench, problems } = await prepare(token);
    expect(problems).toMatchObject([{ type: 'repository_authentication_error' }]);
    expect(readdirSync(bench.workspace)).toEqual([]);
  }
  expect([cached.length, readdirSync(directory)]).toEqual([1, cached]);
  expect(host.requests.filter((request) => request.startsWith('POST'))).toEqual(served);
});

it('[WS337] a damaged cache is made again, and the clone succeeds', async () => {
  const host = await openGitServer();
  const url = host.addRepository('team/app', { a: 'a\n' });
  host.allow('team/app', null, 'read');
  const { directory, cache } = openCache();
  const prepare = async () => {
    const bench = openRepositoriesBench([host.origin], {}, { cache });
    bench.add('github_repository', url);
    return await bench.prepare();
  };
  expect(await prepare()).toEqual([]);
  const [name] = readdirSync(directory) as [string];
  const packs = join(directory, name, 'objects/pack');
  for (const pack of readdirSync(packs).filter((each) => each.endsWith('.pack'))) {
    rmSync(join(packs, pack));
    writeFileSync(join(packs, pack), 'PACK damaged');
  }
  expect(await prepare()).toEqual([]);
  expect(await prepare()).toEqual([]);
  runGit(join(directory, name), 'fsck', '--full');
});

it('[WS338] the 32 repositories that were cloned last are cached', async () => {
  expect([workspaceLimits.cloneCachesMax, workspaceLimits.cloneCachePacksMax]).toEqual([32, 50]);
  const host = await openGitServer();
  const { directory, cache } = openCache(2);
  for (const [at, name] of ['one', 'two', 'three'].entries()) {
    const url = host.addRepository(`team/${name}`, { name });
    host.allow(`team/${name}`, null, 'read');
    const bench = openRepositoriesBench([host.origin], {}, { cache });
    bench.add('github_repository', url);
    expect(await bench.prepare()).toEqual([]);
    for (const each of readdirSync(directory)) if (at < 2) utimesSync(join(directory, each), at + 1, at + 1);
  }
  expect(readdirSync(directory)).toHaveLength(2);
  expect(await cache.find(`${host.origin}/team/three.git`)).not.toBe(undefined);
});
