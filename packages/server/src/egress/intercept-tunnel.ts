import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect, type SecureContext, TLSSocket } from 'node:tls';
import type { Authority } from './authority.ts';
import { createHeldBodies, type HeldBodies } from './collect-body.ts';
import type { ConnectionLog } from './connection-log.ts';
import type { EgressCredential, EgressCredentials } from './credentials.ts';
import { forwardRequest } from './forward-request.ts';
import { egressLimits } from './limits.ts';
import { Refusal } from './open-target.ts';
import type { Target } from './policy.ts';
import { listValues, toHost } from './raw-headers.ts';
import { hasPlaceholder, type Replacement, replaceInBody, replaceInHeaders } from './replace-placeholders.ts';
import { sendRefusal } from './send-refusal.ts';

/** The dependencies of an {@link Interception}. */
export interface InterceptionOptions {
  readonly credentials: EgressCredentials;
  readonly authority: Authority;
  /** The context with which certificates of hosts are verified. */
  readonly trust: SecureContext;
  readonly log: Pick<ConnectionLog, 'refuse'>;
  readonly onProblem: (problem: unknown) => void;
}

/** Decrypts the TLS of tunnels to hosts that a credential of the session may be sent to. */
export interface Interception {
  appliesTo(host: string): Promise<boolean>;
  /** Takes over a tunnel whose client has begun TLS. `used` counts, by credential, the requests into which it was inserted. */
  open(tunnel: OpenedTunnel): void;
}

/** A tunnel whose TLS is decrypted. */
export interface OpenedTunnel {
  readonly near: Socket;
  readonly far: Socket;
  readonly target: Target;
  readonly used: Map<string, number>;
}

/** The state of a tunnel whose decrypted requests arrive on one connection. */
interface Context extends OpenedTunnel {
  readonly agent: Agent;
  /** The number of requests in progress. */
  answering: number;
}

/** Creates the interception of one session. */
export function createInterception(options: InterceptionOptions): Interception {
  const { credentials, authority, trust, log, onProblem } = options;
  const contexts = new WeakMap<object, Context>();
  const bodies = createHeldBodies();
  const server = createInnerServer((request, response) => {
    const context = contexts.get(request.socket);
    if (context === undefined) return void response.destroy();
    context.answering++;
    response.once('close', () => {
      context.answering--;
      endIfDone(request.socket, context);
    });
    forward({ credentials, bodies }, context, request, response).catch((error: unknown) => {
      if (!(error instanceof Refusal)) onProblem(error);
      const refusal = error instanceof Refusal ? error : new Refusal('unreachable', 'the proxy failed', 502);
      log.refuse(context.target, 'tls', refusal.reason);
      sendRefusal(request, response, refusal);
    });
  });
  return {
    appliesTo: async (host) => (await credentials.findFor(host)).length > 0,
    open: (tunnel) => {
      const { near, far, target } = tunnel;
      const secureContext = authority.contextFor(target.host);
      const secure = new TLSSocket(near, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
      const agent = createAgent(far, target, trust);
      const context = { ...tunnel, agent, answering: 0 };
      contexts.set(secure, context);
      // The idle timers of these two sockets do not see the bytes that pass; the server has a timer for the decrypted connection.
      for (const side of [near, far]) side.setTimeout(0);
      // A client that does not trust the certificate ends the handshake.
      secure.on('error', () => near.destroy());
      secure.once('close', () => {
        agent.destroy();
        near.destroy();
        far.destroy();
      });
      far.once('close', () => endIfDone(secure, context));
      server.emit('connection', secure);
    },
  };
}

/** Ends a tunnel whose connection to the host is closed and which has no request in progress. */
function endIfDone(secure: Socket, { far, answering }: Context): void {
  if (far.destroyed && answering === 0) secure.end();
}

function createInnerServer(handle: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer({ maxHeaderSize: egressLimits.headerBytesMax, requestTimeout: 0 }, handle);
  server.timeout = egressLimits.idleMs;
  return server;
}

/** Creates an agent that sends all requests over one connection. The certificate is verified before the first request. */
function createAgent(far: Socket, { host, port }: Target, secureContext: SecureContext): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isTaken = false;
  const createConnection = (_: unknown, done: (error: Error | null, socket?: Socket) => void) => {
    if (isTaken || far.destroyed) return done(new Refusal('unreachable', `${host} has closed the connection`, 502));
    isTaken = true;
    // The name to verify; TLS has no server name for an address.
    const named = isIP(host) === 0 ? { servername: host } : {};
    const secure = connect({ socket: far, host, ...named, secureContext, ALPNProtocols: ['http/1.1'] });
    secure.once('secureConnect', () => done(null, secure));
    secure.once('error', (error) => {
      const message = `the certificate of ${host}:${port} is not accepted, or TLS failed: ${error.message}`;
      done(new Refusal('certificate_not_valid', message, 502));
    });
    return undefined;
  };
  return Object.assign(agent, { createConnection });
}

/** Inserts the secrets into a request and forwards it. Throws a {@link Refusal}. */
async function forward(
  { credentials, bodies }: Pick<InterceptionOptions, 'credentials'> & { readonly bodies: HeldBodies },
  { agent, target, used }: Context,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const shown = toHost(target.host.includes(':') ? `[${target.host}]` : target.host, target.port);
  const hosts = listValues(request.rawHeaders, 'host');
  if (hosts.length !== 1 || toHost(hosts[0]!, 443) !== shown) {
    throw new Refusal('host_header_differs', `the Host header has to be that of the tunnel, ${shown}`, 421);
  }
  const path = request.url ?? '';
  if (!path.startsWith('/') && path !== '*') throw new Refusal('request_not_understood', 'ask for a path', 400);
  const found = await credentials.findFor(target.host);
  const inHeaders = await toReplacements(found, 'isInHeaders', (placeholder) =>
    request.rawHeaders.some((text) => hasPlaceholder(text, placeholder)),
  );
  const headers = replaceInHeaders(request.rawHeaders, inHeaders);
  const body = await replaceBody(bodies, request, found);
  for (const id of new Set([...headers.used, ...(body?.used ?? [])])) used.set(id, (used.get(id) ?? 0) + 1);
  try {
    const sent = { request, response, path, connection: { agent }, shown: shown ?? target.host };
    await forwardRequest({ ...sent, headers: headers.content, body: body?.content });
  } finally {
    body?.release();
  }
}

/** Reads only the secrets whose placeholders are present. */
async function toReplacements(
  credentials: readonly EgressCredential[],
  place: 'isInHeaders' | 'isInBodies',
  isNeeded: (placeholder: string) => boolean,
): Promise<readonly Replacement[]> {
  const replacements: Replacement[] = [];
  for (const credential of credentials) {
    const { id, placeholder } = credential;
    const secret = credential[place] && isNeeded(placeholder) ? await credential.readSecret() : undefined;
    if (secret !== undefined) replacements.push({ id, placeholder, secret });
  }
  return replacements;
}

/** The body with the secrets inserted; undefined if the body is forwarded as it arrives. */
async function replaceBody(bodies: HeldBodies, request: IncomingMessage, credentials: readonly EgressCredential[]) {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = request.headers;
  if (encoding !== 'identity' || !credentials.some(({ isInBodies }) => isInBodies)) return undefined;
  const body = await bodies.collect(request);
  if (body === undefined) return undefined;
  try {
    const replacements = await toReplacements(credentials, 'isInBodies', (placeholder) =>
      body.content.includes(placeholder),
    );
    const replaced = replaceInBody(body.content, type, replacements);
    body.grow(replaced.content.length - body.content.length);
    return { ...replaced, release: () => body.release() };
  } catch (error) {
    body.release();
    throw error;
  }
}
