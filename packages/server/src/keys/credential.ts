import type { Person } from './person.ts';
import type { KeyLimits, Role, Scope } from './scopes.ts';

/**
 * The rights of a caller. An API key may do in its workspace what its scopes allow; an environment key serves one queue of work
 * and the sessions of that environment; a session token serves one session.
 */
export type Credential =
  | ApiCredential
  | { readonly kind: 'environment'; readonly id: string; readonly workspaceId: string; readonly environmentId: string }
  | {
      readonly kind: 'session';
      readonly id: string;
      readonly workspaceId: string;
      readonly environmentId: string;
      readonly sessionId: string;
    };

/** The rights of an API key, or of a browser that was signed in with one. */
export interface ApiCredential {
  readonly kind: 'api';
  readonly id: string;
  readonly workspaceId: string;
  /** The name that its owner gave it. */
  readonly name?: string;
  /** Left out: every scope. */
  readonly scopes?: readonly Scope[];
  /** Left out: it may use every directory and engine that the server allows. */
  readonly limits?: KeyLimits;
  /** The time from which the key is rejected. */
  readonly expiresAt?: number;
  /** The signed-in browser that uses the key. */
  readonly login?: LoginOfCredential;
  /** The person who signed in at an OpenID provider. There is no key then: the id stands for the person. */
  readonly person?: Person;
}

/** The login of a browser. */
export interface LoginOfCredential {
  readonly id: string;
  readonly role?: Role;
  /** The logins that it was made with, the first one first. It ends with each of them. */
  readonly madeWith?: readonly string[];
}

export type CredentialKind = Credential['kind'];

/** Where secrets are looked up. */
export interface Credentials {
  find(secret: string): Promise<Credential | undefined>;
  /** The result of the last look-up, for times when the store is unavailable. */
  readonly findKnown?: ((secret: string) => Credential | undefined) | undefined;
}

/** The workspace of a server without configured workspaces. */
export const DEFAULT_WORKSPACE = 'wrkspc_default';

/** The credential id of every request to a server without keys. */
export const OPEN_ID = 'open';

/** The first that knows the secret. */
export function anyOf(...sources: readonly Credentials[]): Credentials {
  return {
    find: async (secret) => {
      for (const source of sources) {
        const credential = await source.find(secret);
        if (credential !== undefined) return credential;
      }
      return undefined;
    },
    findKnown: (secret) => {
      for (const source of sources) {
        const credential = source.findKnown?.(secret);
        if (credential !== undefined) return credential;
      }
      return undefined;
    },
  };
}

/** Whether a credential has a scope. Environment keys and session tokens have none: their routes are listed for each. */
export function hasScope(credential: Credential, scope: Scope): boolean {
  return credential.kind === 'api' && (credential.scopes === undefined || credential.scopes.includes(scope));
}

/** The resource that a request is about, as far as it is known. */
export interface Target {
  readonly environmentId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/**
 * Whether a credential is for this environment or session. What is not, does not exist for it.
 *
 * A route knows the ids of its path. Whether a session belongs to an environment only its record says, so a handler that
 * has read one asks again, with both.
 */
export function mayReach(credential: Credential, { environmentId, sessionId }: Target): boolean {
  if (credential.kind === 'api') return true;
  const isEnvironment = environmentId === undefined || environmentId === credential.environmentId;
  if (credential.kind === 'environment') return isEnvironment;
  return isEnvironment && (sessionId === undefined || sessionId === credential.sessionId);
}

/** The person or program behind a credential, as far as it is known: a person, the login that began a row of logins, or a key. */
export function callerOf(credential: Credential): string {
  if (credential.kind !== 'api' || credential.person !== undefined) return credential.id;
  const { id, login } = credential;
  return login?.madeWith?.[0] ?? login?.id ?? id;
}
