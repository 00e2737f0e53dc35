import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocks } from '../../tools/locks.ts';
import type { Git } from '../git/run-git.ts';
import { workspaceLimits } from '../limits.ts';

/**
 * Bare repositories with what was cloned before, one for each URL. A clone refers to one while it is received, so that its
 * host sends only what is new, and copies what it needs: it does not refer to it any more when an agent gets it.
 */
export interface CloneCache {
  /** The repository of a URL; undefined if nothing was cloned from it here. Only for callers that its host let in. */
  find(url: string): Promise<string | undefined>;
  /** Takes over what a clone has that no agent has had yet. Where that fails there is no cache. */
  fill(url: string, clone: string): Promise<void>;
  /** The repository cannot be used. */
  drop(url: string): Promise<void>;
}

/** What the cache needs. */
export interface CloneCacheOptions {
  readonly git: Git;
  /** Out of reach of agents. */
  readonly directory: string;
  readonly cachesMax?: number | undefined;
}

/** Opens the clones that a directory has. */
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
          // When it was used last.
          await utimes(path, new Date(), new Date());
          await removeOldest();
        } catch {
          // A clone does not depend on it, and the next one tries again.
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

  /** Copies objects: a file that both had would be in reach of an agent. */
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
