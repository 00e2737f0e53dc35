import type { Clock } from '../../base/clock.ts';
import type { Store } from '../../store/store.ts';
import type { Credential, Credentials } from '../auth/credential.ts';
import type { KeyStore } from '../auth/key-store.ts';
import { createLoginCodes, type LoginCodes } from './login-codes.ts';
import { createLogins } from './logins.ts';
import { findWebDirectory, openWebFiles, type WebFiles } from './web-files.ts';
import { createWebSessions, type WebSessions } from './web-sessions.ts';

export interface DashboardOptions {
  /** Where the built pages are; by default what was built into this package. */
  readonly directory?: string | undefined;
  /** Undefined: everybody is let in. */
  readonly keys: KeyStore | undefined;
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  /** Where it is kept which browsers are signed in. */
  readonly store: Pick<Store, 'documents'>;
  /** Codes of links, where several nodes have to know them. */
  readonly codes?: LoginCodes | undefined;
}

/** The pages for people, and how a browser comes in: by a link that works once, or by a key that is typed in. */
export interface Dashboard {
  /** Cookies that it gave out, to be asked beside the keys. Undefined where everybody is let in. */
  readonly sessions: WebSessions | undefined;
  readonly codes: LoginCodes;
  /** Looks the key up that somebody typed in. */
  readonly findKey: (secret: string) => Promise<Credential | undefined>;
  /** Read when they are asked for first. Undefined if they were not built. */
  readonly files: () => Promise<WebFiles | undefined>;
  /** The way in for whoever holds the server: works once and for a short time. */
  readonly makeLink: (serverUrl: string) => Promise<string>;
}

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

/** Keys of workers open no dashboard. */
async function findApiKey(keys: Credentials | undefined, secret: string): Promise<Credential | undefined> {
  const credential = await keys?.find(secret);
  return credential?.kind === 'api' ? credential : undefined;
}
