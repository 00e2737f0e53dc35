import type { Clock } from '../../base/clock.ts';
import type { AuditLog } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import { type Credential, type Credentials, hasScope } from '../../keys/credential.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { SCOPES } from '../../keys/scopes.ts';
import type { SingleSignOn } from '../../single-sign-on/single-sign-on.ts';
import { createLoginCodes, type LoginCodes } from './login-codes.ts';
import { createLogins, type Logins } from './logins.ts';
import { findWebDirectory, openWebFiles, type WebFiles } from './web-files.ts';
import { createWebSessions, type WebSessions } from './web-sessions.ts';

/** The pages, keys and store of the dashboard. */
export interface DashboardOptions {
  /** The directory of the built pages; by default the one in this package. */
  readonly directory?: string | undefined;
  /** The API keys; undefined if the server needs no key. */
  readonly keys: KeyStore | undefined;
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  /** Stores which browsers are signed in. */
  readonly store: Pick<Store, 'documents' | 'audit' | 'now'>;
  /** The OpenID providers at which people sign in. */
  readonly signOn?: SingleSignOn | undefined;
  /** Receives the error if a provider could not be used. */
  readonly onProblem: (problem: unknown) => void;
}

/** The web pages, and how a browser signs in: with a link that works once, or with a typed key. */
export interface Dashboard {
  /** The signed-in browsers, accepted in addition to keys. Undefined if the server needs no key. */
  readonly sessions: WebSessions | undefined;
  readonly logins: Logins;
  readonly auditLog: Pick<AuditLog, 'append'>;
  readonly codes: LoginCodes;
  /** The OpenID providers; undefined if people sign in with keys and links only. */
  readonly signOn: SingleSignOn | undefined;
  readonly clock: Pick<Clock, 'now' | 'steady'>;
  readonly onProblem: (problem: unknown) => void;
  /** Looks up a key that was typed into the sign-in form. */
  readonly findKey: (secret: string) => Promise<Credential | undefined>;
  /** The built pages, read on first use; undefined if they were not built. */
  readonly files: () => Promise<WebFiles | undefined>;
  /** A sign-in link for the operator of the server: it works once and for a short time. */
  readonly makeLink: (serverUrl: string) => Promise<string>;
}

/** Creates the dashboard. Its pages are read on the first request. */
export function createDashboard(options: DashboardOptions): Dashboard {
  const { directory, keys, signingKey, clock, store, signOn, onProblem } = options;
  const codes = createLoginCodes(store);
  const hasKey = async (id: string) => (await keys?.findById(id)) !== undefined;
  const logins = createLogins(store, clock, { hasKey, hasIssuer: signOn?.hasIssuer });
  const sessions = keys === undefined ? undefined : createWebSessions({ signingKey, clock, keys, logins });
  let files: Promise<WebFiles | undefined> | undefined;
  return {
    sessions,
    logins,
    auditLog: store.audit,
    codes,
    signOn,
    clock,
    onProblem,
    findKey: (secret) => findApiKey(keys, secret),
    files: () => (files ??= openWebFiles(directory ?? findWebDirectory())),
    makeLink: async (serverUrl) => {
      const first = await findOperatorKey(keys);
      if (first === undefined) return `${serverUrl}/`;
      return `${serverUrl}/login?code=${await codes.make({ keyId: first.id, workspaceId: first.workspaceId })}`;
    },
  };
}

/** The oldest key without scopes or expiry; without one, the oldest that has every scope. */
async function findOperatorKey(keys: KeyStore | undefined): Promise<Credential | undefined> {
  const found: Credential[] = [];
  for (const { id } of (await keys?.list()) ?? []) {
    const credential = await keys?.findById(id);
    if (credential?.kind === 'api' && SCOPES.every((scope) => hasScope(credential, scope))) found.push(credential);
  }
  return found.find((each) => each.kind === 'api' && each.expiresAt === undefined) ?? found[0];
}

/** Environment keys, which workers have, cannot sign in. */
async function findApiKey(keys: Credentials | undefined, secret: string): Promise<Credential | undefined> {
  const credential = await keys?.find(secret);
  return credential?.kind === 'api' ? credential : undefined;
}
