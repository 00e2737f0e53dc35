import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Credential } from '../../model/messages/options.ts';

/** The destination of the program's model requests. */
export type Upstream =
  | {
      readonly type: 'endpoint';
      /** As in `ANTHROPIC_BASE_URL`; it may have a path. */
      readonly baseURL: string;
      /** Added on the way up, in place of whatever the program sends. `program`: its own, as it sends it. */
      readonly credential: Credential | 'program';
    }
  /** A handler in this process: the scripted model. */
  | { readonly type: 'handler'; readonly handle: (request: IncomingMessage, response: ServerResponse) => void };

/** The headers that a request goes up with. Those of the way between two machines stay behind, and so do credentials. */
export function toUpstreamHeaders(raw: readonly string[], upstream: Upstream): string[] {
  const isOwn = upstream.type === 'endpoint' && upstream.credential === 'program';
  const kept = keepForwarded(raw).filter(([name]) => isOwn || !credentialHeaders.has(name.toLowerCase()));
  if (upstream.type === 'handler') return [...kept.flat(), 'host', 'localhost'];
  return [...kept.flat(), 'host', new URL(upstream.baseURL).host, ...toCredentialHeader(upstream.credential)];
}

/** The headers that a request to an MCP server goes up with. */
export function toMcpHeaders(
  raw: readonly string[],
  { host }: URL,
  hasBody: boolean,
  authorization?: string,
): string[] {
  const dropped = new Set([
    // A length without a body would be waited for, and a body without one would be taken for the next request.
    ...(hasBody ? [] : ['content-length']),
    ...(authorization === undefined ? [] : credentialHeaders),
  ]);
  const kept = keepForwarded(raw).filter(([name]) => !dropped.has(name.toLowerCase()));
  return [...kept.flat(), 'host', host, ...(authorization === undefined ? [] : ['authorization', authorization])];
}

/** The headers that an answer comes down with, as they were, spelling and order included. */
export function toDownstreamHeaders(raw: readonly string[]): string[] {
  const dropped = new Set([...hopByHop, 'set-cookie', ...namedByConnection(raw)]);
  return [...pairs(raw)].filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}

function keepForwarded(raw: readonly string[]): [name: string, value: string][] {
  const dropped = new Set([...hopByHop, ...ofTheWay, ...otherRequest, 'cookie', ...namedByConnection(raw)]);
  return [...pairs(raw)].filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** About one connection, not about what it carries. */
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

/** Node gives names and values in turns. */
function* pairs(raw: readonly string[]): Generator<[name: string, value: string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] ?? '', raw[at + 1] ?? ''];
}
