import type * as openid from 'openid-client';
import type { Clock } from '../base/clock.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { signOnLimits } from './limits.ts';
import type { Claims } from './map-claims.ts';
import type { IssuerConfig } from './read-oidc-config.ts';
import type { SignInFlow } from './sign-in-flow.ts';

/** One OpenID provider. Each call may reject because of an error of the provider or of the network to it. */
export interface Provider {
  readonly config: IssuerConfig;
  /** The URL at which a browser begins to sign in. */
  begin(flow: SignInFlow): Promise<URL>;
  /** Exchanges the code in the query of a callback, and validates the tokens of the provider. */
  finish(query: URLSearchParams, flow: SignInFlow): Promise<Identified>;
  /** The URL at which a browser signs out of the provider; undefined if the provider has no such page. */
  endSessionUrl(idToken: string | undefined): Promise<URL | undefined>;
  /** The published metadata of the provider. */
  metadata(): Promise<openid.ServerMetadata>;
}

/** A person as the provider has identified them. */
export interface Identified {
  readonly issuer: string;
  readonly claims: Claims;
  readonly idToken: string;
  /** The session of the person at the provider, if it names one. */
  readonly sessionId?: string | undefined;
}

/** The configuration of a provider, the URL to which it redirects browsers, and the clock of the server. */
export interface ProviderOptions {
  readonly config: IssuerConfig;
  readonly publicUrl: string;
  readonly clock: Pick<Clock, 'now' | 'steady'>;
}

/** Creates a provider. Nothing is requested before the first sign-in: an unreachable provider does not keep the server from starting. */
export function createProvider({ config, publicUrl, clock }: ProviderOptions): Provider {
  const callback = `${publicUrl}/login/oidc/${config.id}/callback`;
  let known: { readonly at: number; readonly discovered: Promise<openid.Configuration> } | undefined;
  return {
    config,
    begin: async ({ state, nonce, verifier }) => {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await load();
      return buildAuthorizationUrl(await discovered(), {
        redirect_uri: callback,
        scope: config.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },
    finish: async (query, { state, nonce, verifier }) => {
      const { authorizationCodeGrant, fetchUserInfo } = await load();
      const provider = await discovered();
      const tokens = await authorizationCodeGrant(provider, new URL(`${callback}?${query.toString()}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const token = tokens.claims()!;
      const hasInfo = config.userinfo && provider.serverMetadata().userinfo_endpoint !== undefined;
      const info = hasInfo ? await fetchUserInfo(provider, tokens.access_token, token.sub) : {};
      if (token.sub.length > signOnLimits.subjectCharsMax)
        throw new TypeError('the subject of the id token is too long');
      const { sid } = token;
      return {
        issuer: token.iss,
        // Claims of the id token win, because it is signed and the userinfo response is not.
        claims: { ...info, ...token },
        idToken: tokens.id_token!,
        ...(typeof sid === 'string' ? { sessionId: sid } : {}),
      };
    },
    endSessionUrl: async (idToken) => {
      const provider = await discovered();
      if (provider.serverMetadata().end_session_endpoint === undefined) return undefined;
      const { buildEndSessionUrl } = await load();
      const hint = idToken === undefined ? {} : { id_token_hint: idToken };
      return buildEndSessionUrl(provider, { post_logout_redirect_uri: `${publicUrl}/login`, ...hint });
    },
    metadata: async () => (await discovered()).serverMetadata(),
  };

  /** The cached configuration of the provider, read again after `metadataMs`. A failure is not cached. */
  async function discovered(): Promise<openid.Configuration> {
    if (known !== undefined && clock.steady() - known.at < signOnLimits.metadataMs) return await known.discovered;
    const mine = { at: clock.steady(), discovered: discover(config, clock) };
    known = mine;
    try {
      return await mine.discovered;
    } catch (error) {
      if (known === mine) known = undefined;
      throw error;
    }
  }
}

async function discover(config: IssuerConfig, clock: Pick<Clock, 'now'>): Promise<openid.Configuration> {
  const library = await load();
  const { allowInsecureRequests, clockSkew, clockTolerance, customFetch, enableNonRepudiationChecks } = library;
  const url = new URL(config.issuer);
  const metadata = {
    // The library reads the clock of the machine; the difference adjusts it to the clock of the server.
    [clockSkew]: Math.round((clock.now() - Date.now()) / 1_000),
    [clockTolerance]: config.clock_skew_seconds,
  };
  return await library.discovery(url, config.client_id, metadata, toAuthentication(library, config.clientSecret), {
    timeout: signOnLimits.requestSeconds,
    [customFetch]: boundedFetch,
    // `enableNonRepudiationChecks` verifies the signature of id tokens, although they are received directly from the provider.
    execute: [enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [allowInsecureRequests] : [])],
  });
}

/** Authenticates with the method that the provider supports. `client_secret_basic` is the default of OpenID Connect. */
function toAuthentication(library: typeof openid, secret: string | undefined): openid.ClientAuth {
  if (secret === undefined) return library.None();
  const [basic, post] = [library.ClientSecretBasic(secret), library.ClientSecretPost(secret)];
  return (provider, ...rest) => {
    const { token_endpoint_auth_methods_supported: supported = ['client_secret_basic'] } = provider;
    return (supported.includes('client_secret_basic') ? basic : post)(provider, ...rest);
  };
}

/** Servers without single sign-on do not load the library. */
function load(): Promise<typeof openid> {
  return import('openid-client');
}
