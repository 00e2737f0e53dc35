import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Credential } from '../../model/messages/options.ts';

/** The destination of the program's model requests. */
export type Upstream =
  | {
      readonly type: 'endpoint';
      /** The base URL, as in `ANTHROPIC_BASE_URL`; it may have a path. */
      readonly baseURL: string;
      /** The credential that replaces the one of the program's request. `program`: the program's own credential, unchanged. */
      readonly credential: Credential | 'program';
    }
  /** A handler in this process: the scripted model. */
  | { readonly type: 'handler'; readonly handle: (request: IncomingMessage, response: ServerResponse) => void };

/** The headers of a request to the endpoint, without hop-by-hop headers. The program's credentials are dropped unless `credential` is `program`. */
export function toUpstreamHeaders(raw: readonly string[], upstream: Upstream): string[] {
  const isOwn = upstream.type === 'endpoint' && upstream.credential === 'program';
  const kept = keepForwarded(raw).filter(([name]) => isOwn || !credentialHeaders.has(name.toLowerCase()));
  if (upstream.type === 'handler') return [...kept.flat(), 'host', 'localhost'];
  return [...kept.flat(), 'host', new URL(upstream.baseURL).host, ...toCredentialHeader(upstream.credential)];
}

/** The headers of a request to an MCP server. */
export function toMcpHeaders(
  raw: readonly string[],
  { host }: URL,
  hasBody: boolean,
  authorization?: string,
): string[] {
  const dropped = new Set([
    // With a length and no body the server would wait, and a body without a length would be read as the next request.
    ...(hasBody ? [] : ['content-length']),
    ...(authorization === undefined ? [] : credentialHeaders),
  ]);
  const kept = keepForwarded(raw).filter(([name]) => !dropped.has(name.toLowerCase()));
  return [...kept.flat(), 'host', host, ...(authorization === undefined ? [] : ['authorization', authorization])];
}

/** The headers of a response to the program, unchanged in spelling and order, without hop-by-hop headers and cookies. */
export function toDownstreamHeaders(raw: readonly string[]): string[] {
  const dropped = new Set([...hopByHop, 'set-cookie', ...namedByConnection(raw)]);
  return [...pairs(raw)].filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

function keepForwarded(raw: readonly string[]): [name: string, value: string][] {
  const dropped = new Set([...hopByHop, ...ofTheWay, ...otherRequest, 'cookie', ...namedByConnection(raw)]);
  return [...pairs(raw)].filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** Hop-by-hop headers, which apply to one connection only. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

const ofTheWay = [
  'host',
  'expect',
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
];

/** Some servers use these headers to override the method or the path, which were checked. */
const otherRequest = [
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-rewrite-url',
];

const credentialHeaders = new Set(['x-api-key', 'authorization']);

function toCredentialHeader(credential: Credential | 'program'): string[] {
  if (credential === 'program') return [];
  return 'apiKey' in credential
    ? ['x-api-key', credential.apiKey]
    : ['authorization', `Bearer ${credential.authToken}`];
}

/** `Connection: x-mine` makes `x-mine` a header of the connection too. */
function namedByConnection(raw: readonly string[]): string[] {
  const named: string[] = [];
  for (const [name, value] of pairs(raw)) {
    if (name.toLowerCase() === 'connection') named.push(...value.split(',').map((part) => part.trim().toLowerCase()));
  }
  return named;
}

/** The pairs of a header list in which Node alternates names and values. */
function* pairs(raw: readonly string[]): Generator<[name: string, value: string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] ?? '', raw[at + 1] ?? ''];
}
