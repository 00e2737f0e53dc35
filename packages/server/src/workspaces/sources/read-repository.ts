import { requestError } from '../../base/request-error.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import { GitFailure } from '../git/git-failure.ts';
import { workspaceLimits } from '../limits.ts';
import type { RepositoryPlace } from './find-repository.ts';

/** Reads from the user's repository, without changing it. */
export interface RepositoryReader {
  readonly objectFormat: () => Promise<'sha1' | 'sha256'>;
  /** Resolves a name, by default `HEAD`, to a commit. Undefined in a repository without commits, if no name was given. */
  readonly resolveCommit: (name: string | undefined) => Promise<string | undefined>;
  /** The checked-out branch, such as `refs/heads/main`; undefined if HEAD is detached. */
  readonly headRef: () => Promise<string | undefined>;
  /** Branches, remote branches and tags, as lines of a `packed-refs` file. */
  readonly packedRefs: () => Promise<ReadonlyMap<string, string>>;
  /** Committed files that a sparse checkout does not include. Their paths have one character for each byte. */
  readonly sparsePaths: () => Promise<ReadonlySet<string>>;
  /** The author of commits, and the remotes without credentials. */
  readonly settings: () => Promise<readonly Setting[]>;
}

/** One value of a git configuration: `['remote', 'origin', 'url', 'https://…']`. */
export type Setting = readonly [section: string, subsection: string | null, name: string, value: string];

/** Creates the reader of a repository. */
export function createRepositoryReader(git: RepositoryGit, place: RepositoryPlace): RepositoryReader {
  const { gitDirectory } = place;
  const run = async (args: readonly string[], codes: readonly number[] = []) => {
    return await git.run(args, { cwd: gitDirectory, gitDirectory, codes, reach: { readOnlyPaths: pathsOf(place) } });
  };
  return {
    objectFormat: async () => {
      const { stdout } = await run(['rev-parse', '--show-object-format']);
      return stdout.toString().trim() === 'sha256' ? 'sha256' : 'sha1';
    },
    resolveCommit: async (name) => {
      const { code, stdout } = await run(
        ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name ?? 'HEAD'}^{commit}`],
        [1, 128],
      ).catch((error: unknown) => {
        throw toUnreadable(error, place);
      });
      const commit = stdout.toString().trim();
      if (code === 0 && COMMIT.test(commit)) return commit;
      if (name === undefined) return undefined;
      const advice = 'name a branch, tag or commit that exists in it';
      throw requestError('invalid_request', `base: ${name} is not a commit of ${place.top}`, { advice });
    },
    headRef: async () => {
      const { code, stdout } = await run(['symbolic-ref', '--quiet', 'HEAD'], [1]);
      return code === 0 ? stdout.toString().trim() : undefined;
    },
    packedRefs: async () => {
      const format = '--format=%(objectname) %(refname)%00%(*objectname)';
      const count = `--count=${workspaceLimits.refsMax}`;
      const { stdout } = await run(['for-each-ref', count, format, 'refs/heads', 'refs/tags', 'refs/remotes']);
      return new Map(stdout.toString().split('\n').flatMap(toPackedRef));
    },
    sparsePaths: async () => {
      const { stdout } = await run(['ls-files', '-t', '-z']);
      const entries = stdout.toString('latin1').split('\0');
      return new Set(entries.flatMap((entry) => (entry.startsWith('S ') ? [entry.slice(2)] : [])));
    },
    settings: async () => {
      const { stdout } = await run(['config', '--local', '--no-includes', '-z', '--list']);
      return stdout.toString().split('\0').flatMap(toSetting);
    },
  };
}

const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** The directories that git has to read. */
export function pathsOf({ gitDirectory, commonDirectory, objects }: RepositoryPlace): readonly string[] {
  return [...new Set([commonDirectory, gitDirectory, ...objects])];
}

function toPackedRef(line: string): [string, string][] {
  const found = /^([0-9a-f]+) (\S+)\0([0-9a-f]*)$/.exec(line);
  if (found === null) return [];
  const [, id, name, peeled] = found;
  return [[name!, peeled === '' ? `${id} ${name}\n` : `${id} ${name}\n^${peeled}\n`]];
}

/** Parses a setting, if agents may see it. Keys are `section.subsection.name`, and the value begins in the next line. */
function toSetting(entry: string): Setting[] {
  const at = entry.indexOf('\n');
  const [key, value] = [entry.slice(0, at), entry.slice(at + 1)];
  // oxlint-disable-next-line no-control-regex -- a value must not contain a line break, because it is written to another file
  if (at < 0 || /[\u0000-\u001f]/.test(value)) return [];
  if (key === 'user.name' || key === 'user.email') return [['user', null, key.slice(5), value]];
  const [, remote, name] = /^remote\.([\w./-]+)\.(url|fetch)$/.exec(key) ?? [];
  if (remote === undefined || name === undefined) return [];
  return [['remote', remote, name, name === 'url' ? withoutCredentials(value) : value]];
}

/** `https://user:token@host/path` becomes `https://host/path`. */
function withoutCredentials(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1').replace(/[?#].*$/, '');
}

function toUnreadable(error: unknown, { top }: RepositoryPlace): unknown {
  if (!(error instanceof GitFailure)) return error;
  const advice = 'check it with git status, or use mode copy';
  return requestError('invalid_request', `path: git cannot read the repository ${top} (${error.message})`, {
    advice,
    cause: error,
  });
}
