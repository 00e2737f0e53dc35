import type { Clock } from '../../base/clock.ts';
import type { Store } from '../../store/store.ts';
import type { Credential, Credentials } from '../../keys/credential.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { createLoginCodes, type LoginCodes } from './login-codes.ts';
import { createLogins } from './logins.ts';
import { findWebDirectory, openWebFiles, type WebFiles } from './web-files.ts';
import { createWebSessions, type WebSessions } from './web-sessions.ts';

/** Where the dashboard finds its pages and stores its sign-ins. */
export interface DashboardOptions {
  /** The directory of the built pages; by default the one in this package. */
  readonly directory?: string | undefined;
  /** Undefined: the server needs no key. */
  readonly keys: KeyStore | undefined;
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  /** Stores which browsers are signed in. */
  readonly store: Pick<Store, 'documents'>;
  /** Codes of login links, if several nodes share them. */
  readonly codes?: LoginCodes | undefined;
}

/** The web pages, and how a browser signs in: with a link that works once, or with a typed key. */
export interface Dashboard {
  /** The signed-in browsers, accepted in addition to keys. Undefined if the server needs no key. */
  readonly sessions: WebSessions | undefined;
  readonly codes: LoginCodes;
  /** Looks up a key that was typed into the sign-in form. */
  readonly findKey: (secret: string) => Promise<Credential | undefined>;
  /** The pages, read on first use. Undefined if they were not built. */
  readonly files: () => Promise<WebFiles | undefined>;
  /** A sign-in link for the operator of the server: it works once and for a short time. */
  readonly makeLink: (serverUrl: string) => Promise<string>;
}

/** Creates the dashboard. Its pages are read on the first request. */
export function createDashboard({ directory, keys, signingKey, clock, store, ...rest }: DashboardOptions): Dashboard {
  const codes = rest.codes ?? createLoginCodes({ clock });
  const logins = createLogins(store, clock);
  const sessions = keys === undefined ? undefined : createWebSessions({ signingKey, clock, keys, logins });
  let files: Promise<WebFiles | undefined> | undefined;
  return {
    sessions,
    codes,
    findKey: (secret) => findApiKey(keys, secret),
    files: () => (files ??= openWebFiles(directory ?? findWebDirectory())),
    makeLink: async (serverUrl) => {
      const [first] = ((await keys?.list()) ?? []).filter(({ kind }) => kind === 'api');
      if (first === undefined) return `${serverUrl}/`;
      return `${serverUrl}/login?code=${await codes.make({ keyId: first.id, workspaceId: first.workspaceId })}`;
    },
  };
}

/** Environment keys, which workers have, cannot sign in. */
async function findApiKey(keys: Credentials | undefined, secret: string): Promise<Credential | undefined> {
  const credential = await keys?.find(secret);
  return credential?.kind === 'api' ? credential : undefined;
}
