import type { Checkout } from '@fleetloom/protocol/managed-agents';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GitFailure } from '../git/git-failure.ts';
import type { GitRunOptions } from '../git/run-git.ts';
import { workspaceLimits } from '../limits.ts';
import { CloneFailure } from './clone-failure.ts';
import type { CloneParts, CloneSource, RunInClone } from './clone-source.ts';
import { fetchRepository } from './fetch-repository.ts';
import { measure, watchSize } from './watch-size.ts';

/**
 * Clones a repository into a new directory below `draft` and returns its path. git reaches the host through a listener of
 * ours which adds the token, runs no hook, filter or submodule, and is stopped at the limits. Throws a {@link CloneFailure}.
 */
export async function cloneRepository(
  parts: CloneParts,
  source: CloneSource,
  draft: string,
  signal: AbortSignal,
): Promise<string> {
  const { cloneMs, cloneBytesMax, cloneLookMs, cloneDataBytesMax, cloneCpuSeconds } = parts.limits;
  // The size watch stops a clone that is too large and reports the reason; the limit of a single file is only the last resort.
  const fileBytes = FILE_SHARE * cloneBytesMax;
  const limits = { dataBytes: cloneDataBytesMax, cpuSeconds: cloneCpuSeconds, fileBytes };
  const stop = new AbortController();
  let reason: string | undefined;
  const end = (why: string) => {
    reason ??= why;
    stop.abort();
  };
  const tooLarge = `it has more than ${cloneBytesMax} bytes, and a clone may have no more`;
  const timer = setTimeout(() => end(`it took longer than ${cloneMs / 1000} s`), cloneMs);
  const onAbort = () => end('it was stopped');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const unwatch = watchSize(draft, { bytesMax: cloneBytesMax, lookMs: cloneLookMs, onOver: () => end(tooLarge) });
  const run = (args: readonly string[], more: Partial<GitRunOptions> = {}) =>
    parts.git.run(args, { cwd: draft, timeoutMs: cloneMs, signal: stop.signal, limits, ...more });
  try {
    await mkdir(draft, { recursive: true, mode: 0o700 });
    const clone = join(draft, 'repository');
    await fetchRepository(parts, source, { draft, clone, run });
    const inClone = (args: readonly string[], more: Partial<GitRunOptions> = {}) => run(args, { cwd: clone, ...more });
    const target = await findCommit(inClone, source);
    if (target !== undefined) {
      const bytes = (await measure(draft, cloneBytesMax)) + (await sumFiles(inClone, target));
      if (bytes > cloneBytesMax) end(tooLarge);
      await inClone(['checkout', '-q', '-f', ...toCheckout(source.checkout)]);
    }
    if ((await measure(clone, cloneBytesMax)) > cloneBytesMax) end(tooLarge);
    if (reason !== undefined)
      throw new CloneFailure('repository_clone_error', `${source.url} could not be cloned: ${reason}`);
    return clone;
  } catch (error) {
    throw await toFailure(source, error, reason);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    unwatch();
  }
}

const FILE_SHARE = 4;

/** The commit to check out; undefined for an empty repository. */
async function findCommit(run: RunInClone, { url, checkout }: CloneSource): Promise<string | undefined> {
  const branch = checkout?.type === 'branch' ? `refs/remotes/origin/${checkout.name}` : 'HEAD';
  const wanted = checkout?.type === 'commit' ? checkout.sha : branch;
  const { code, stdout } = await run(['rev-parse', '--verify', '--quiet', `${wanted}^{commit}`], { codes: [1, 128] });
  if (code === 0) return stdout.toString().trim();
  if (checkout === null) return undefined;
  const what = checkout.type === 'branch' ? `branch ${checkout.name}` : `commit ${checkout.sha}`;
  throw new CloneFailure('repository_checkout_error', `${url} has no ${what}`);
}

function toCheckout(checkout: Checkout | null): readonly string[] {
  if (checkout === null) return [];
  return checkout.type === 'commit'
    ? ['--detach', checkout.sha]
    : ['-B', checkout.name, '--track', `origin/${checkout.name}`];
}

/** The bytes of all files of a commit: a pack of a few kilobytes can contain a file of terabytes. */
async function sumFiles(run: RunInClone, commit: string): Promise<number> {
  const { stdout } = await run(['ls-tree', '-r', '-l', '-z', commit], {
    outputBytesMax: workspaceLimits.cloneListBytesMax,
  });
  let bytes = 0;
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0, at);
    bytes += Number(
      /^\d+ \w+ [0-9a-f]+ +(\d+)\t/.exec(stdout.toString('latin1', at, Math.min(end, at + ENTRY_CHARS)))?.[1] ?? 0,
    );
    at = end + 1;
  }
  return bytes;
}

/** Characters of an entry that contain its mode, type, id and size. */
const ENTRY_CHARS = 120;

async function toFailure(
  { url, readToken }: CloneSource,
  error: unknown,
  reason: string | undefined,
): Promise<CloneFailure> {
  if (reason === undefined && error instanceof CloneFailure) return error;
  const why = reason ?? (error instanceof GitFailure ? lastLine(error) : 'the server could not prepare it');
  const token = await readToken().catch(() => undefined);
  // The host knows the token and could repeat it in a message that git prints.
  const shown = token === undefined ? why : why.replaceAll(token, '[token]');
  return new CloneFailure('repository_clone_error', `${url} could not be cloned: ${shown}`, { cause: error });
}

function lastLine({ stderr, message }: GitFailure): string {
  const fatal = /(?:fatal|error): (.*)$/.exec(stderr)?.[1];
  return (fatal ?? message).slice(0, workspaceLimits.gitMessageCharsMax);
}
