import type { Upstream } from './upstream.ts';

export interface GatewayFacts {
  readonly baseURL: string;
  /** Null: the program sends its model requests elsewhere. */
  readonly upstream: Upstream | null;
  /** Whether the gateway is also its way to other hosts. */
  readonly hasTunnels: boolean;
}

/**
 * What the program has to find in its environment to come through the gateway. The real credential is not among it:
 * that one is added on the way up, and the program, with every command that it runs, never sees it.
 */
export function toProgramEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { baseURL, upstream, hasTunnels }: GatewayFacts,
): Record<string, string> {
  const known = hasTunnels ? '' : (environment['NO_PROXY'] ?? environment['no_proxy'] ?? '');
  const direct = [known, '127.0.0.1', ...(hasTunnels ? ['localhost', '::1'] : [])].filter((host) => host !== '');
  const ownCredential = upstream === null || (upstream.type === 'endpoint' && upstream.credential === 'program');
  return {
    ...(upstream === null ? {} : { ANTHROPIC_BASE_URL: baseURL }),
    // Without any key the program would ask for a login.
    ...(ownCredential ? {} : { ANTHROPIC_API_KEY: 'fleetloom-gateway', ANTHROPIC_AUTH_TOKEN: '' }),
    ...(hasTunnels ? toProxy(baseURL) : {}),
    NO_PROXY: direct.join(','),
    no_proxy: direct.join(','),
  };
}

/** For `https:` only: what is not encrypted is not let out. */
function toProxy(baseURL: string): Record<string, string> {
  const { host, pathname } = new URL(baseURL);
  const proxy = `http://fleetloom:${pathname.slice(1)}@${host}`;
  return { HTTPS_PROXY: proxy, https_proxy: proxy };
}
