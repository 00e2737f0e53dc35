import type { Upstream } from './upstream.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Why the gateway cannot be used. */
export interface NoGateway {
  /** `provider`: the program sends its requests elsewhere. `proxy`: this server cannot reach the endpoint directly. */
  readonly cause: 'provider' | 'proxy';
  /** The reason, in one sentence. */
  readonly message: string;
}

/** Why the gateway cannot forward the program's model requests; undefined if it can. */
export function whyNoGateway(environment: Environment, upstream: Upstream): NoGateway | undefined {
  const provider = [...otherProviders].find(([name]) => isOn(environment[name]));
  if (provider !== undefined) return { cause: 'provider', message: toReason(...provider) };
  const proxy = upstream.type === 'endpoint' ? proxyFor(environment, new URL(upstream.baseURL)) : undefined;
  if (proxy === undefined) return undefined;
  return { cause: 'proxy', message: toReason(proxy, 'requests have to leave through a proxy') };
}

/** With these variables the program does not use the Messages API, or not `ANTHROPIC_BASE_URL`. */
const otherProviders = new Map([
  ['CLAUDE_CODE_USE_BEDROCK', 'the program talks to Amazon Bedrock'],
  ['CLAUDE_CODE_USE_MANTLE', 'the program talks to Amazon Bedrock'],
  ['CLAUDE_CODE_USE_ANTHROPIC_AWS', 'the program talks to Amazon'],
  ['CLAUDE_CODE_USE_VERTEX', 'the program talks to Vertex AI'],
  ['CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD', 'the program talks to Google Cloud'],
  ['CLAUDE_CODE_USE_FOUNDRY', 'the program talks to Microsoft Foundry'],
  ['CLAUDE_CODE_USE_GATEWAY', 'the program talks to a gateway of its own'],
  ['ANTHROPIC_UNIX_SOCKET', 'the program talks to a socket of its own'],
]);

function isOn(value: string | undefined): boolean {
  return !['', '0', 'false', 'no', 'off'].includes((value ?? '').trim().toLowerCase());
}

/** The variable that sends requests through a proxy; undefined without one. The program supports proxies, Node's own HTTP client does not. */
function proxyFor(environment: Environment, { protocol, hostname }: URL): string | undefined {
  const direct = `${environment['NO_PROXY'] ?? ''},${environment['no_proxy'] ?? ''}`.split(',');
  const isDirect = direct.map((part) => part.trim().replace(/^\*?\./, '')).some((host) => covers(host, hostname));
  if (isDirect || loopback.test(hostname)) return undefined;
  const scheme = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return [scheme, scheme.toLowerCase(), 'ALL_PROXY', 'all_proxy'].find((name) => isOn(environment[name]));
}

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function covers(host: string, hostname: string): boolean {
  return host === '*' || (host !== '' && (hostname === host || hostname.endsWith(`.${host}`)));
}

function toReason(name: string, what: string): string {
  return `${what} (${name} is set), so the text of sub-agents is shown block by block and not as it grows`;
}
