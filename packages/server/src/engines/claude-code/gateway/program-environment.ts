import type { Upstream } from './upstream.ts';

/**
 * What the program has to find in its environment to come through the gateway. The real credential is not among it:
 * that one is added on the way up, and the program, with every command that it runs, never sees it.
 */
export function toProgramEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  baseURL: string,
  upstream: Upstream,
): Record<string, string> {
  const direct = [environment['NO_PROXY'] ?? environment['no_proxy'] ?? '', '127.0.0.1'].filter((host) => host !== '');
  const ownCredential = upstream.type === 'endpoint' && upstream.credential === 'program';
  return {
    ANTHROPIC_BASE_URL: baseURL,
    // Without any key the program would ask for a login.
    ...(ownCredential ? {} : { ANTHROPIC_API_KEY: 'fleetloom-gateway', ANTHROPIC_AUTH_TOKEN: '' }),
    NO_PROXY: direct.join(','),
    no_proxy: direct.join(','),
  };
}
