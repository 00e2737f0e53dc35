import { FleetloomError } from '../../base/errors.ts';

/** The hosts that repositories may be cloned from. */
export interface GitHosts {
  allows(url: URL): boolean;
  /** Hosts that may be in a private network, as `host:port`: the hosts that the operator has named. */
  readonly privateHosts: readonly string[];
}

/**
 * Reads the operator's list: `gitlab.example.com`, `git.example.com:8443`, `http://10.0.0.7:3000`, or `*` for every public
 * host. github.com is always allowed. Throws if an entry is not a host.
 */
export function toGitHosts(entries: readonly string[] = []): GitHosts {
  const named = entries.filter((entry) => entry !== '*').map(toOrigin);
  const origins = new Set(['https://github.com', ...named.map(({ origin }) => origin)]);
  const allowsAll = entries.includes('*');
  return {
    allows: ({ origin, protocol }) => origins.has(origin) || (allowsAll && protocol === 'https:'),
    privateHosts: named.map(
      ({ hostname, port, protocol }) => `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`,
    ),
  };
}

/** The origin of an entry. Uses http only if the entry begins with `http://`, because tokens would be sent unencrypted. */
function toOrigin(entry: string): URL {
  const address = /^https?:\/\//.test(entry) ? entry : `https://${entry}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && url.hostname !== '' && `${url.origin}/` === url.href && !entry.includes('*')) return url;
  throw new FleetloomError({
    code: 'git_host_invalid',
    kind: 'caller',
    problem: `${entry} is not a git host`,
    advice: 'write it as gitlab.example.com, git.example.com:8443, http://10.0.0.7:3000, or * for every public host',
  });
}
