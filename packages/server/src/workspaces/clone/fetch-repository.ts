import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GitFailure } from '../git/git-failure.ts';
import { openCloneListener } from '../relay/clone-listener.ts';
import { CloneFailure, toFailureType } from './clone-failure.ts';
import type { CloneCache } from './clone-cache.ts';
import type { CloneParts, CloneSource, RunInClone } from './clone-source.ts';

/** Fetches a whole repository into a new directory `clone`, without checking out files. Throws a {@link CloneFailure} if the host rejects it. */
export async function fetchRepository(
  parts: CloneParts,
  source: CloneSource,
  { draft, clone, run }: { readonly draft: string; readonly clone: string; readonly run: RunInClone },
): Promise<void> {
  const { url, checkout } = source;
  if (url.startsWith('file:')) {
    await checkDirectory(parts, url);
    return await fetchAll('file', []);
  }
  let refused: number | undefined;
  const listener = await openCloneListener({
    ...parts,
    find: async (id) => (id === source.id ? source : undefined),
    onRefused: (status) => (refused ??= status),
  });
  const config = join(draft, 'gitconfig');
  try {
    await writeFile(config, listener.toConfig(source.id, url), { mode: 0o600, flag: 'wx' });
    await fetchCached(parts.cache, [`include.path=${config}`]);
  } catch (cause) {
    if (refused === undefined) throw cause;
    throw new CloneFailure(toFailureType(refused), `${url} could not be cloned: ${describe(refused)}`, { cause });
  } finally {
    await listener.close();
    await rm(config, { force: true });
  }

  /** Fetches with the cached objects of the same URL, once the host has accepted the session's own token. */
  async function fetchCached(cache: CloneCache | undefined, more: readonly string[]): Promise<void> {
    const known = await cache?.find(source.serviceUrl);
    if (known === undefined) await fetchAll('http', more);
    else {
      const settings = ['protocol.http.allow=always', ...more];
      await run(['ls-remote', '--quiet', '--', url], { settings, env: { GIT_ALLOW_PROTOCOL: 'http' } });
      try {
        await fetchAll('http', more, ['--reference', known, '--dissociate']);
      } catch (error) {
        if (refused !== undefined || !(error instanceof GitFailure) || error.code === null) throw error;
        // The cache is damaged, or was removed in the meantime.
        await cache?.drop(source.serviceUrl);
        await rm(clone, { recursive: true, force: true });
        await fetchAll('http', more);
      }
    }
    await cache?.fill(source.serviceUrl, clone);
  }

  async function fetchAll(
    protocol: 'http' | 'file',
    more: readonly string[],
    reference: readonly string[] = [],
  ): Promise<void> {
    const settings = [`protocol.${protocol}.allow=always`, ...more, ...FETCH_SETTINGS];
    const env = { GIT_ALLOW_PROTOCOL: protocol };
    const plain = [
      '--quiet',
      '--no-checkout',
      '--no-recurse-submodules',
      '--template=',
      '--origin=origin',
      ...reference,
    ];
    await run(['clone', ...plain, '--', url, clone], { settings, env });
    if (checkout?.type !== 'commit' || (await has(run, clone, checkout.sha))) return;
    // The commit is not reachable from a branch. Hosts that do not serve such commits respond with an error.
    const asked = run(['fetch', '--quiet', '--no-tags', 'origin', checkout.sha], { settings, env, cwd: clone });
    await asked.catch((cause: unknown) => {
      if (!(cause instanceof GitFailure) || cause.code === null) throw cause;
      throw new CloneFailure('repository_checkout_error', `${url} has no commit ${checkout.sha}`, { cause });
    });
  }
}

/** Throws if the directory is not allowed any more, or was replaced by a link to another directory since the session was created. */
async function checkDirectory({ directories }: CloneParts, url: string): Promise<void> {
  const path = fileURLToPath(url);
  const real = await directories.resolve(path).catch(() => undefined);
  if (real === path) return;
  throw new CloneFailure('repository_forbidden_error', `${url} is not in a directory that this server allows any more`);
}

/** Objects are checked when they are received, and stay in one pack. Harmless format errors of old tools are accepted. */
const FETCH_SETTINGS = [
  'transfer.fsckObjects=true',
  'fetch.fsckObjects=true',
  ...[
    'badTimezone',
    'missingSpaceBeforeDate',
    'zeroPaddedFilemode',
    'missingEmail',
    'badEmail',
    'missingNameBeforeEmail',
  ].map((name) => `fetch.fsck.${name}=ignore`),
  'transfer.unpackLimit=1',
  'fetch.unpackLimit=1',
];

async function has(run: RunInClone, clone: string, sha: string): Promise<boolean> {
  const { code } = await run(['cat-file', '-e', `${sha}^{commit}`], { cwd: clone, codes: [1, 128] });
  return code === 0;
}

function describe(status: number): string {
  if (status === 401) return 'its host does not accept the token, or needs one. Give a valid token to its resource';
  if (status === 403) return 'the token may not read it. Give its resource a token that may';
  if (status === 404) return 'its host has no such repository, or the token may not see it';
  if (status >= 300 && status < 400) return 'its host has moved it. Use its new URL';
  return `its host answered with ${status}`;
}
