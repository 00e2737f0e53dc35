import { basename, posix } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Checkout } from '@fleetloom/protocol/managed-agents';
import { requestError } from '../../base/request-error.ts';
import type { AllowedDirectories } from '../sources/allowed-directories.ts';
import type { GitHosts } from '../relay/git-hosts.ts';
import type { RepositoryResourceParams } from '../repository-sources.ts';

/** The hosts and directories from which repositories may be cloned. */
export interface RepositoryRules {
  readonly hosts: GitHosts;
  /** The allowed directories of this machine. */
  readonly directories: Pick<AllowedDirectories, 'resolve'>;
}

/** A repository that was checked, with defaults filled in. */
export interface CheckedRepository {
  readonly url: string;
  readonly mount_path: string;
  readonly checkout: Checkout | null;
}

/** Throws a request error if the repository cannot be cloned, as far as that is known without a request to its host. */
export async function checkRepository(
  params: RepositoryResourceParams,
  { hosts, directories }: RepositoryRules,
): Promise<CheckedRepository> {
  const isFile = params.type === 'git_repository' && params.url.startsWith('file:');
  const { url, name } = isFile ? await checkFileUrl(params.url, directories) : checkUrl(params, hosts);
  if (isFile && params.credential_id != null) {
    const advice = 'leave credential_id out';
    throw requestError('invalid_request', 'credential_id: a repository on this machine needs none', { advice });
  }
  checkCheckout(params.checkout ?? null);
  return { url, mount_path: toMountPath(params.mount_path ?? `/workspace/${name}`), checkout: params.checkout ?? null };
}

/** Throws if two repositories would be at the same path, or one inside of the other. */
export function checkMountPaths(paths: readonly string[]): void {
  for (const [at, path] of paths.entries()) {
    const other = paths
      .slice(0, at)
      .find((each) => `${each}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${each}/`));
    if (other === undefined) continue;
    const problem = other === path ? `${path} is taken` : `${path} and ${other} are one inside the other`;
    throw requestError('invalid_request', `mount_path: ${problem}`, {
      advice: 'give each repository a directory of its own',
    });
  }
}

function checkUrl(
  { type, url: given }: RepositoryResourceParams,
  hosts: GitHosts,
): { readonly url: string; readonly name: string } {
  if (/^(?:ssh:|[\w.-]+@[\w.-]+:)/.test(given)) {
    throw invalidUrl(given, 'ssh is not supported', 'use the https URL of the repository');
  }
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalidUrl(given, 'is not the https URL of a repository', EXAMPLE);
  }
  if (url.username !== '' || url.password !== '') {
    // The message does not quote the URL: it may contain a token.
    throw requestError('invalid_request', 'url: has a user name or password in it', {
      advice: 'send the token as authorization_token',
    });
  }
  const segments = url.pathname.slice(1).split('/');
  const isPlain = url.search === '' && url.hash === '' && segments.every((segment) => SEGMENT.test(segment));
  const isGithub = type === 'github_repository';
  const hasCount = url.hostname === 'github.com' ? segments.length === 2 : segments.length >= 1;
  if (!isPlain || !hasCount) throw invalidUrl(given, 'is not the URL of a repository', EXAMPLE);
  if (isGithub && url.pathname.endsWith('.git')) throw invalidUrl(given, 'ends with .git', EXAMPLE);
  if (!hosts.allows(url)) {
    const advice = `the operator of this server can allow it with --git-host ${url.protocol === 'https:' ? url.host : url.origin}`;
    throw invalidUrl(given, `${url.host} is not a git host that this server allows`, advice);
  }
  return { url: url.href, name: segments.at(-1)!.replace(/\.git$/, '') };
}

/** Throws unless the URL is a repository on this machine in an allowed directory. */
async function checkFileUrl(given: string, directories: RepositoryRules['directories']) {
  const isPlain = URL.canParse(given) && /^file:\/\/\/[^?#]+$/.test(given);
  if (!isPlain) throw invalidUrl(given, 'is not a URL of a directory', 'write it as file:///srv/repository.git');
  const path = await directories.resolve(fileURLToPath(given));
  return { url: pathToFileURL(path).href, name: basename(path).replace(/\.git$/, '') };
}

const EXAMPLE = 'write it as https://github.com/owner/repository';
/** A path segment of characters that need no quoting in a URL or in git's configuration. */
const SEGMENT = /^(?!\.{1,2}$)[\w.~+-]+$/;

function invalidUrl(url: string, problem: string, advice: string): Error {
  return requestError('invalid_request', `url: ${url.slice(0, 200)}: ${problem}`, { advice });
}

function checkCheckout(checkout: Checkout | null): void {
  if (checkout?.type === 'commit' && !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(checkout.sha)) {
    const advice = 'give the full SHA: 40 or 64 hex digits in lower case';
    throw requestError('invalid_request', `checkout.sha: ${checkout.sha.slice(0, 80)} is not a commit`, { advice });
  }
  if (checkout?.type === 'branch' && !isBranchName(checkout.name)) {
    const advice = 'give the name of a branch as `git branch` shows it';
    throw requestError('invalid_request', `checkout.name: ${checkout.name.slice(0, 80)} is not a branch`, { advice });
  }
}

/** Whether a name is valid according to `git check-ref-format --branch`. */
function isBranchName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- git rejects these characters
  const isBad = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$|^@$|^HEAD$/.test(name);
  return !isBad && name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

function toMountPath(path: string): string {
  const parts = path.split('/').slice(1);
  const isClean = posix.normalize(path) === path && parts.every((part) => /^[^\p{Cc}]+$/u.test(part));
  const isShort = parts.every((part) => Buffer.byteLength(part) <= NAME_BYTES_MAX);
  const isInside = path.startsWith('/workspace/') && !RESERVED.test(path);
  if (isClean && isShort && isInside) return path;
  const advice = 'use an absolute path below /workspace, such as /workspace/repository';
  throw requestError('invalid_request', `mount_path: ${path.slice(0, 200)} is not a path for a repository`, { advice });
}

const NAME_BYTES_MAX = 255;
/** Paths that are reserved: the server's directory, and `.git` in any case, because some file systems ignore case. */
const RESERVED = /^\/workspace\/\.fleetloom(?:\/|$)|\/\.git(?:\/|$)/i;
