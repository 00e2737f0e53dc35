import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import OpenIdProvider from 'oidc-provider';

/** The person that signs in next, as set by a test. */
export interface TestPerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

/** A provider that listens on loopback. */
export interface TestProvider {
  readonly issuer: string;
  close(): Promise<void>;
}

/** A real OpenID provider, at which every browser signs in as `person`. */
export interface RealProvider extends TestProvider {
  person: TestPerson;
  /** The URL at which the provider reaches the server, instead of its public URL. */
  reach: string;
}

export const CLIENT = { id: 'fleetloom', secret: 'a secret of the client, long enough' } as const;

/** Starts the provider of the package `oidc-provider`, with one client. */
export async function startRealProvider(publicUrl: string, id: string, people: TestPerson): Promise<RealProvider> {
  const { server, issuer } = await listen((incoming, outgoing) => handle(incoming, outgoing));
  const known = new Map<string, TestPerson>();
  const self = { issuer, person: people, reach: publicUrl, close: () => close(server) };
  const provider = new OpenIdProvider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${publicUrl}/login/oidc/${id}/callback`],
        post_logout_redirect_uris: [`${publicUrl}/login`],
        backchannel_logout_uri: `${publicUrl}/login/oidc/${id}/backchannel`,
        backchannel_logout_session_required: true,
      },
    ],
    cookies: { keys: ['a key of cookies'] },
    pkce: { required: () => true },
    // Drops the dispatcher of the package, which does not connect to private addresses.
    fetch: (url: string, options: object) =>
      fetch(url.replace(publicUrl, self.reach), { ...options, dispatcher: undefined } as RequestInit),
    adapter: toAdapter(new Map()),
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    jwks: { keys: [await makeKey()] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: { body: string }, form: string) => void (context.body = form),
      },
      backchannelLogout: { enabled: true },
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: async () => known.get(sub) }),
    // Grants the scopes without asking the person for consent.
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  });
  const serve = provider.callback();
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!incoming.url!.startsWith('/interaction/')) return serve(incoming, outgoing);
    known.set(self.person.sub, self.person);
    provider
      .interactionFinished(incoming, outgoing, { login: { accountId: self.person.sub } })
      .catch(() => outgoing.destroy());
  };
  return self;
}

async function makeKey(): Promise<object> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: 'r1', alg: 'RS256', use: 'sig' };
}

/** An adapter that stores the records of the provider in a map: the default one warns that it is for development only. */
function toAdapter(stored: Map<string, Record<string, unknown>>) {
  return class {
    readonly #model: string;

    constructor(model: string) {
      this.#model = model;
    }

    async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
      stored.set(`${this.#model} ${id}`, { ...payload, id });
    }

    async find(id: string) {
      return stored.get(`${this.#model} ${id}`);
    }

    async findByUid(uid: string) {
      return [...stored].find(([key, { uid: own }]) => key.startsWith(`${this.#model} `) && own === uid)?.[1];
    }

    async consume(id: string): Promise<void> {
      stored.get(`${this.#model} ${id}`)!['consumed'] = Math.floor(Date.now() / 1_000);
    }

    async destroy(id: string): Promise<void> {
      stored.delete(`${this.#model} ${id}`);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      for (const [key, payload] of stored) if (payload['grantId'] === grantId) stored.delete(key);
    }
  };
}

interface GrantContext {
  readonly oidc: { readonly client: { readonly clientId: string }; readonly session: { readonly accountId: string } };
}

/** A provider whose responses a test can replace, with real signatures. */
export interface HostileProvider extends TestProvider {
  /** Claims of the next id token that are added to the correct ones, or replace them. */
  claims: Record<string, unknown>;
  /** Creates the whole id token, instead of the correctly signed one. */
  idToken: ((claims: Record<string, unknown>) => Promise<string>) | undefined;
  metadata: Record<string, unknown>;
  /** The nonce of the next id token, taken from the last authorization request. */
  nonce: string;
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  /** The forms of the token requests. */
  readonly exchanges: URLSearchParams[];
}

/** Starts a provider whose responses can all be replaced. */
export async function startHostileProvider(): Promise<HostileProvider> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const key = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  const { server, issuer } = await listen((incoming, outgoing) => void answer(incoming, outgoing));
  const self: HostileProvider = {
    issuer,
    claims: {},
    idToken: undefined,
    metadata: {},
    nonce: '',
    exchanges: [],
    sign: (claims, header) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header }).sign(privateKey),
    close: () => close(server),
  };
  return self;

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body: Buffer[] = [];
    for await (const chunk of incoming) body.push(chunk as Buffer);
    const sent = await toAnswer(incoming.url!, Buffer.concat(body).toString());
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(sent));
  }

  async function toAnswer(url: string, body: string): Promise<object> {
    if (url.startsWith('/jwks')) return { keys: [key] };
    if (url.startsWith('/.well-known')) {
      return {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...self.metadata,
      };
    }
    self.exchanges.push(new URLSearchParams(body));
    const now = Math.floor(Date.now() / 1_000);
    const { nonce } = self;
    const right = { iss: issuer, aud: CLIENT.id, sub: 'ann', nonce, iat: now, exp: now + 60 };
    const claims = { ...right, email: 'ann@example.com', email_verified: true, groups: ['staff'], ...self.claims };
    const idToken = await (self.idToken?.(claims) ?? self.sign(claims));
    return { access_token: 'a', token_type: 'Bearer', id_token: idToken };
  }
}

async function listen(handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void) {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** The options of a request. */
interface Visit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

/** A browser that follows redirects between providers and a server. The public URL of the server is mapped to one of its nodes. */
export class TestBrowser {
  readonly #jars = new Map<string, Map<string, string>>();
  readonly #publicUrl: string;
  /** The node that receives requests to the public URL. */
  node: string;

  constructor(publicUrl: string, node: string) {
    this.#publicUrl = publicUrl;
    this.node = node;
  }

  /** The `Cookie` header for the server. */
  get cookie(): string {
    return this.#cookieOf(this.#publicUrl);
  }

  /** Copies the cookies of another browser, as an attacker would. */
  steal(cookie: string): void {
    this.#jars.set(
      this.#publicUrl,
      new Map(cookie.split('; ').map((pair) => [pair.split('=')[0]!, pair.slice(pair.indexOf('=') + 1)] as const)),
    );
  }

  /** Sends one request, without following redirects. */
  async visit(url: string, init: Visit = {}): Promise<Response> {
    const isOurs = url.startsWith(this.#publicUrl);
    const target = isOurs ? this.node + url.slice(this.#publicUrl.length) : url;
    const origin = isOurs ? this.#publicUrl : new URL(url).origin;
    const cookie = this.#cookieOf(origin);
    const headers = { ...(cookie === '' ? {} : { cookie }), ...init.headers };
    const response = await fetch(target, { ...init, headers, redirect: 'manual' });
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(pair.indexOf('=') + 1);
      if (attributes.includes('Max-Age=0') || value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects to a page, and returns the page with all URLs on the way. */
  async open(url: string, isEnd: (url: string) => boolean = () => false) {
    const visited: string[] = [];
    for (let next = url; ; ) {
      visited.push(next);
      if (isEnd(next)) return { visited, last: next, response: undefined };
      const response = await this.visit(next);
      const location = response.headers.get('location');
      if (location === null) return { visited, last: next, response };
      await response.body?.cancel();
      next = new URL(location, next).href;
    }
  }

  /** Signs out of a provider on its own page. */
  async endProviderSession(issuer: string): Promise<void> {
    const page = await (await this.visit(`${issuer}/session/end`)).text();
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    await (await this.visit(`${issuer}/session/end/confirm`, { method: 'POST', body })).body?.cancel();
  }

  #cookieOf(origin: string): string {
    return [...(this.#jars.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}
