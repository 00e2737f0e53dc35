import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { listen } from '../oauth-mcp.suite.ts';
import { serveMcp } from '../../tools/mcp/mcp-server.suite.ts';

/** A real authorization server: `oidc-provider`, with a page to sign in and one to consent. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** Whether the server has issued this access token for this resource and not revoked it. */
  isValid(token: string, resource: string): Promise<boolean>;
  /** The bodies of requests to the token endpoint. */
  readonly tokenRequests: URLSearchParams[];
}

interface ProviderOptions {
  readonly clients?: readonly object[];
  readonly registers?: boolean;
  /** Seconds that access tokens are valid for. */
  readonly tokenSeconds?: number;
}

/** The part of the package `oidc-provider` that is used here; the package has no types. */
interface Provider {
  callback(): RequestListener;
  readonly AccessToken: {
    find(token: string): Promise<{ readonly aud: unknown; readonly isValid: boolean } | undefined>;
  };
}

export async function serveAuthorization(options: ProviderOptions = {}): Promise<AuthorizationServer> {
  const { clients = [], registers = true, tokenSeconds = 3_600 } = options;
  const tokenRequests: URLSearchParams[] = [];
  let handle: RequestListener = () => {};
  const http = createServer((incoming, outgoing) => {
    if (incoming.url === '/token') {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () => tokenRequests.push(new URLSearchParams(Buffer.concat(parts).toString())));
    }
    handle(incoming, outgoing);
  });
  const issuer = `http://${await listen(http)}`;
  // @ts-ignore: the package has no types, except in programs that include the declarations of another test.
  const imported: unknown = await import('oidc-provider');
  // The cast follows the documentation of the package.
  const { default: OidcProvider } = imported as { default: new (issuer: string, configuration: object) => Provider };
  const provider = new OidcProvider(issuer, {
    clients,
    scopes: ['openid', 'offline_access', 'tools'],
    features: {
      registration: { enabled: registers },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_context: unknown, resource: string) => ({
          scope: 'tools',
          audience: resource,
          accessTokenFormat: 'opaque',
        }),
        useGrantedResource: async () => true,
      },
    },
    ttl: { AccessToken: tokenSeconds, Interaction: 600, Grant: 3_600, Session: 3_600, RefreshToken: 3_600 },
    findAccount: async (_context: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    cookies: { keys: ['a key of a test'] },
  });
  handle = provider.callback();
  return {
    issuer,
    tokenRequests,
    isValid: async (token, resource) => {
      const found = await provider.AccessToken.find(token);
      return found?.isValid === true && found.aud === resource;
    },
  };
}

/** An MCP server that names its authorization server and accepts only tokens of that server. */
export async function serveOAuthMcp(server: AuthorizationServer): Promise<string> {
  const mcp = await serveMcp();
  const http = createServer((incoming, outgoing) => {
    void handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const origin = `http://${await listen(http)}`;
  const resource = `${origin}/mcp`;
  return resource;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (incoming.url === '/.well-known/oauth-protected-resource/mcp') {
      outgoing.setHeader('content-type', 'application/json');
      const metadata = { resource, authorization_servers: [server.issuer], scopes_supported: ['tools'] };
      return void outgoing.end(JSON.stringify(metadata));
    }
    const token = incoming.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (!(await server.isValid(token, resource))) {
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return void outgoing.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    const { method, headers } = incoming;
    const passed = request(mcp.url, { method, headers: { ...headers, host: new URL(mcp.url).host } }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  }
}

/** A browser whose user signs in and consents, or refuses: follows redirects and forms until it is sent to a callback. */
export async function consent(authorizationUrl: string, { agrees = true } = {}): Promise<string> {
  const cookies = new Map<string, string>();
  let url = new URL(authorizationUrl);
  let init: { method?: string; body?: string } = {};
  for (let step = 0; step < 20; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { ...FORM, cookie } });
    for (const each of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(each)!;
      cookies.set(name!, value!);
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      url = new URL(location, url);
      if (url.pathname === '/oauth-callback') return url.href;
      init = {};
      continue;
    }
    const page = await answer.text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (prompt === undefined) throw new Error(`status ${answer.status} of ${url.href}: ${page.slice(0, 2_000)}`);
    if (!agrees) {
      url = new URL(`${url.pathname}/abort`, url);
      init = {};
      continue;
    }
    const form = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login: 'ada', password: 'any' } : {}) });
    init = { method: 'POST', body: form.toString() };
  }
  throw new Error('the authorization server does not send the browser back');
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** The response of a scripted authorization server to a path; undefined: the usual response. */
export type Script = (path: string, origin: string, body: string) => ScriptedAnswer | undefined;

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
  /** The number of blanks to send before the body. */
  readonly padding?: number;
  /** Whether the response never ends. */
  readonly hangs?: boolean;
}

/** An MCP server and its authorization server on one port, which respond as the script says, and correctly where it returns undefined. */
export async function serveScripted(script: Script) {
  const requests: { readonly path: string; readonly body: string }[] = [];
  const http = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const [path, body] = [incoming.url ?? '', Buffer.concat(parts).toString()];
      requests.push({ path, body });
      const answer = script(path, origin, body) ?? toUsual(path, origin);
      outgoing.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
      if (answer.padding !== undefined) outgoing.write(' '.repeat(answer.padding));
      if (answer.hangs === true) return void outgoing.write('{');
      outgoing.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}));
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  // The address of a server that listens on a port is an `AddressInfo`.
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { origin, url: `${origin}/mcp`, requests };
}

/** The correct responses of both servers, used where the script returns undefined. */
export function toUsual(path: string, origin: string): ScriptedAnswer {
  if (path === '/mcp') return { status: 401 };
  if (path === '/.well-known/oauth-protected-resource/mcp') {
    return { body: { resource: `${origin}/mcp`, authorization_servers: [origin] } };
  }
  if (path === '/.well-known/oauth-authorization-server') return { body: toServerMetadata(origin) };
  if (path === '/register') return { status: 201, body: { client_id: 'registered' } };
  if (path === '/token') return { body: { access_token: 'canary-access', token_type: 'Bearer', expires_in: 3_600 } };
  return { status: 404 };
}

/** Correct metadata of an authorization server. */
export function toServerMetadata(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
  };
}
