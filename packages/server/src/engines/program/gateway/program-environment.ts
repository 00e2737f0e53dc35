import type { ModelWire } from './forwarder.ts';
import type { Upstream } from './upstream.ts';

/** The facts about a program's connection to the gateway. */
export interface GatewayFacts {
  readonly baseURL: string;
  /** The endpoint of model requests. Null: the program sends them elsewhere. */
  readonly upstream: Upstream | null;
  /** The API of the program's model requests; by default the Messages API. */
  readonly wire?: ModelWire | undefined;
  /** Whether the program also connects to other hosts through the gateway. */
  readonly hasTunnels: boolean;
}

/**
 * The environment variables with which the program uses the gateway. They do not contain the real credential:
 * the gateway adds it to requests, and neither the program nor its commands ever see it.
 */
export function toProgramEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { baseURL, upstream, wire = 'messages', hasTunnels }: GatewayFacts,
): Record<string, string> {
  const known = hasTunnels ? '' : (environment['NO_PROXY'] ?? environment['no_proxy'] ?? '');
  const direct = [known, '127.0.0.1', ...(hasTunnels ? ['localhost', '::1'] : [])].filter((host) => host !== '');
  return {
    ...(upstream === null || wire !== 'messages' ? {} : toMessagesVariables(baseURL, upstream)),
    ...(hasTunnels ? toProxy(baseURL) : {}),
    NO_PROXY: direct.join(','),
    no_proxy: direct.join(','),
  };
}

function toMessagesVariables(baseURL: string, upstream: Upstream): Record<string, string> {
  const hasOwnCredential = upstream.type === 'endpoint' && upstream.credential === 'program';
  // Without any key the program would ask for a login.
  const key = { ANTHROPIC_API_KEY: 'fleetloom-gateway', ANTHROPIC_AUTH_TOKEN: '' };
  return { ANTHROPIC_BASE_URL: baseURL, ...(hasOwnCredential ? {} : key) };
}

/** The proxy variables, for `https:` only: unencrypted connections are not allowed. */
function toProxy(baseURL: string): Record<string, string> {
  const { host, pathname } = new URL(baseURL);
  const proxy = `http://fleetloom:${pathname.slice(1)}@${host}`;
  return { HTTPS_PROXY: proxy, https_proxy: proxy };
}
