import type { Clock } from '../base/clock.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { signOnLimits } from './limits.ts';
import type { Provider } from './provider.ts';

/** The logins that a provider ends: all logins of a person, or of one session at the provider, or of both. */
export interface LogoutOrder {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sessionId: string | undefined;
  /** Logins that began after this time are kept, so that a token that is sent again ends no newer login. */
  readonly at: number;
}

/** Validates the token of a back-channel logout (OpenID Connect Back-Channel Logout 1.0, 2.6). Rejects any other token. */
export type ReadLogoutToken = (token: string) => Promise<LogoutOrder>;

/** Creates the validation for the tokens of one provider. Its keys are read on first use, and again when a token names an unknown key. */
export function createLogoutTokenReader(provider: Provider, clock: Pick<Clock, 'now'>): ReadLogoutToken {
  const { client_id: clientId, clock_skew_seconds: skew } = provider.config;
  let keys: { readonly uri: string; readonly find: ReturnType<Jose['createRemoteJWKSet']> } | undefined;
  return async (token) => {
    const { createRemoteJWKSet, customFetch, jwtVerify } = await load();
    const { issuer, jwks_uri: uri } = await provider.metadata();
    if (uri === undefined) throw new TypeError('the provider has no keys');
    if (keys?.uri !== uri) {
      const options = { timeoutDuration: signOnLimits.requestSeconds * 1_000, [customFetch]: boundedFetch };
      keys = { uri, find: createRemoteJWKSet(new URL(uri), options) };
    }
    const { payload } = await jwtVerify(token, keys.find, {
      issuer,
      audience: clientId,
      algorithms: SIGNATURES,
      clockTolerance: skew,
      currentDate: new Date(clock.now()),
      maxTokenAge: signOnLimits.logoutTokenMs / 1_000,
      requiredClaims: ['iat', 'jti', 'events'],
    });
    const { events, sub, sid, nonce, iat } = payload;
    const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, LOGOUT_EVENT);
    // A token with a nonce could be used as an id token.
    if (!isLogout || nonce !== undefined) throw new TypeError('the token is not a logout token');
    const sessionId = typeof sid === 'string' ? sid : undefined;
    if (sub === undefined && sessionId === undefined) throw new TypeError('the logout token names neither sub nor sid');
    return { issuer, subject: sub, sessionId, at: (iat! + skew + 1) * 1_000 };
  };
}

type Jose = typeof import('jose');

/** Servers without single sign-on do not load the library. */
function load(): Promise<Jose> {
  return import('jose');
}

/** Signature algorithms with a private key, which only the provider has. */
const SIGNATURES = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
