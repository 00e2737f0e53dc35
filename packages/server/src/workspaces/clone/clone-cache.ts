import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocks } from '../../tools/locks.ts';
import type { Git } from '../git/run-git.ts';
import { workspaceLimits } from '../limits.ts';

/**
 * Bare repositories with the objects of earlier clones, one for each URL. While a clone is fetched it references one, so that the
 * host sends only new objects. It then copies the objects it needs, and has no reference to the cache when an agent gets it.
 */
export interface CloneCache {
  /** The cached repository of a URL; undefined without one. Callers must have verified that the host accepts their token. */
  find(url: string): Promise<string | undefined>;
  /** Copies the objects of a clone that no agent has had access to. If that fails, the cached repository is removed. */
  fill(url: string, clone: string): Promise<void>;
  /** Removes a cached repository that cannot be used. */
  drop(url: string): Promise<void>;
}

/** The dependencies of the cache. */
export interface CloneCacheOptions {
  readonly git: Git;
  /** The directory of the cached repositories, which agents cannot reach. */
  readonly directory: string;
  readonly cachesMax?: number | undefined;
}

/** Opens the cache in a directory. */
export function createCloneCache(options: CloneCacheOptions): CloneCache {
  const { git, directory, cachesMax = workspaceLimits.cloneCachesMax } = options;
  const locks = createLocks();
  const pathOf = (url: string) => join(directory, `${createHash('sha256').update(url).digest('hex')}.git`);
  const isThere = async (path: string) => (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

  return {
    find: async (url) => ((await isThere(pathOf(url))) ? pathOf(url) : undefined),
    drop: async (url) => await locks.hold(url, () => rm(pathOf(url), { recursive: true, force: true })),
    fill: async (url, clone) =>
      await locks.hold(url, async () => {
        const path = pathOf(url);
        try {
          if (await isThere(path)) await take(path, clone);
          else await create(path, clone);
          // The modification time records the last use.
          await utimes(path, new Date(), new Date());
          await removeOldest();
        } catch {
          // Failures are ignored: clones do not depend on the cache, and the next clone fills it again.
          await rm(path, { recursive: true, force: true });
        }
      }),
  };

  async function create(path: string, clone: string): Promise<void> {
    const draft = `${path}.new`;
    await rm(draft, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await git.run(['init', '--quiet', '--bare', '--template=', draft], { cwd: directory });
    await take(draft, clone);
    await rename(draft, path);
  }

  /** Copies objects from a clone. They are not hard-linked, because an agent could reach a shared file. */
  async function take(path: string, clone: string): Promise<void> {
    const refs = ['+refs/remotes/origin/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
    await git.run(['fetch', '--quiet', '--no-tags', '--prune', '--no-write-fetch-head', clone, ...refs], {
      cwd: path,
      gitDirectory: path,
      settings: ['protocol.file.allow=always', 'fetch.unpackLimit=1'],
      env: { GIT_ALLOW_PROTOCOL: 'file' },
      timeoutMs: workspaceLimits.cloneMs,
    });
    const packs = (await readdir(join(path, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'));
    if (packs.length > workspaceLimits.cloneCachePacksMax) throw new Error('the cache has too many packs');
  }

  async function removeOldest(): Promise<void> {
    const names = (await readdir(directory)).filter((name) => name.endsWith('.git'));
    const found = await Promise.all(
      names.map(async (name) => ({ name, time: (await stat(join(directory, name))).mtimeMs })),
    );
    for (const { name } of found.toSorted((one, other) => other.time - one.time).slice(cachesMax)) {
      await rm(join(directory, name), { recursive: true, force: true });
    }
  }
}
