import { hkdfSync } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Person } from '../keys/person.ts';
import { createSealer } from '../keys/sealer.ts';
import type { Store } from '../store/store.ts';
import { signOnLimits } from './limits.ts';
import { createLogoutTokenReader, type ReadLogoutToken } from './logout-token.ts';
import { createProvider, type Provider } from './provider.ts';
import type { OidcConfig } from './read-oidc-config.ts';
import { createSignInFlows, type SignInFlows } from './sign-in-flow.ts';

/** The OpenID providers at which people sign in. */
export interface SingleSignOn {
  readonly publicUrl: string;
  /** How long a person stays signed in. */
  readonly sessionMs: number;
  readonly providers: readonly SignOnProvider[];
  readonly flows: SignInFlows;
  /** Whether the configuration has this issuer. People of an issuer that was removed are rejected. */
  readonly hasIssuer: (issuer: string) => boolean;
  /** The workspaces to which grants give access. */
  readonly workspaces: readonly string[];
  /** Encrypts an id token, which is sent to the provider when the person signs out. Undefined if the token is too large to keep. */
  readonly seal: (person: Person, idToken: string) => string | undefined;
  /** The URL at which a browser signs out of the person's provider; undefined if the provider has no such page. */
  readonly endSessionUrl: (person: Person, sealedIdToken: string | undefined) => Promise<string | undefined>;
}

/** A provider with the validation of its logout tokens. */
export interface SignOnProvider extends Provider {
  readonly readLogoutToken: ReadLogoutToken;
}

/** The dependencies of single sign-on. */
export interface SingleSignOnOptions {
  readonly config: OidcConfig;
  readonly signingKey: Uint8Array;
  readonly store: Pick<Store, 'documents'>;
  readonly clock: Clock;
}

/** Creates the providers of a configuration. */
export function createSingleSignOn({ config, signingKey, store, clock }: SingleSignOnOptions): SingleSignOn {
  const { public_url: publicUrl, session_hours: hours, issuers } = config;
  const providers = issuers.map((each) => {
    const provider = createProvider({ config: each, publicUrl, clock });
    return { ...provider, readLogoutToken: createLogoutTokenReader(provider, clock) };
  });
  const sealer = createSealer(new Uint8Array(hkdfSync('sha256', signingKey, '', 'fleetloom id tokens', KEY_BYTES)));
  const findProvider = (issuer: string) => providers.find((each) => trim(each.config.issuer) === trim(issuer));
  return {
    publicUrl,
    sessionMs: hours * 60 * 60 * 1_000,
    providers,
    flows: createSignInFlows({ signingKey, clock, store }),
    hasIssuer: (issuer) => findProvider(issuer) !== undefined,
    workspaces: [...new Set(issuers.flatMap(({ grants }) => grants.map(({ workspace }) => workspace)))],
    seal: ({ issuer, subject }, idToken) =>
      idToken.length > signOnLimits.idTokenCharsMax ? undefined : sealer.seal(idToken, [issuer, subject]),
    endSessionUrl: async ({ issuer, subject }, sealed) => {
      const idToken = sealed === undefined ? undefined : sealer.open(sealed, [issuer, subject]);
      return (await findProvider(issuer)?.endSessionUrl(idToken))?.href;
    },
  };
}

/** An issuer without trailing slashes: some providers end their issuer with one, and the configuration may omit it. */
function trim(issuer: string): string {
  return issuer.replace(/\/+$/, '');
}

const KEY_BYTES = 32;
