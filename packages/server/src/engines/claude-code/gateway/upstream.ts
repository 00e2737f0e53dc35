import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Credential } from '../../messages/messages-engine.ts';

/** Where the program's requests go. */
export type Upstream =
  | {
      readonly type: 'endpoint';
      /** As in `ANTHROPIC_BASE_URL`; it may have a path. */
      readonly baseURL: string;
      /** Added on the way up, in place of whatever the program sends. `program`: its own, as it sends it. */
      readonly credential: Credential | 'program';
    }
  /** Something in this process that answers: the scripted model. */
  | { readonly type: 'handler'; readonly handle: (request: IncomingMessage, response: ServerResponse) => void };

/** The headers that a request goes up with. Those of the way between two machines stay behind. */
export function toUpstreamHeaders(raw: readonly string[], upstream: Upstream): string[] {
  const dropped = new Set([...hopByHop, 'host', 'expect', ...namedByConnection(raw)]);
  const isReplaced = upstream.type === 'endpoint' && upstream.credential !== 'program';
  const kept = keepHeaders(raw, (name) => !dropped.has(name) && !(isReplaced && credentialHeaders.has(name)));
  if (upstream.type === 'handler') return [...kept, 'host', 'localhost'];
  return [...kept, 'host', new URL(upstream.baseURL).host, ...toCredentialHeader(upstream.credential)];
}

/** The headers that an answer comes down with, as they were, spelling and order included. */
export function toDownstreamHeaders(raw: readonly string[]): string[] {
  const dropped = new Set([...hopByHop, ...namedByConnection(raw)]);
  return keepHeaders(raw, (name) => !dropped.has(name));
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

function keepHeaders(raw: readonly string[], isKept: (name: string) => boolean): string[] {
  return [...pairs(raw)].flatMap(([name, value]) => (isKept(name.toLowerCase()) ? [name, value] : []));
}

/** Node gives names and values in turns. */
function* pairs(raw: readonly string[]): Generator<[name: string, value: string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] ?? '', raw[at + 1] ?? ''];
}
