import type { Clock } from '../../base/clock.ts';
import { FleetloomError } from '../../base/errors.ts';
import { systemSchedule } from '../../base/schedule.ts';
import type { Access } from '../../http/auth/authenticate.ts';
import { createDashboard, type Dashboard } from '../../http/dashboard/dashboard.ts';
import { anyOf, DEFAULT_WORKSPACE } from '../../keys/credential.ts';
import { type KeyStore, openKeyStore } from '../../keys/key-store.ts';
import { keyLimits } from '../../keys/limits.ts';
import { createSessionTokens, type SessionTokens } from '../../keys/session-tokens.ts';
import { createTokenIssuers } from '../../keys/token-issuers.ts';
import type { Store } from '../../store/store.ts';
import { readOidcConfig } from '../../single-sign-on/read-oidc-config.ts';
import {
  createSingleSignOn,
  type SingleSignOn,
  type SingleSignOnOptions,
} from '../../single-sign-on/single-sign-on.ts';
import { repeat } from '../repeat.ts';
import type { ServerOptions } from '../server-options.ts';
import type { ServerStorage } from '../server-storage.ts';

/** The keys and tokens of a server, and the dashboard with its logins. */
export interface OpenedAccess {
  readonly access: Access;
  /** The API keys; undefined for an open server. */
  readonly keys: KeyStore | undefined;
  /** The secret of the first key, if this start created it. */
  readonly firstKey: string | undefined;
  readonly tokens: SessionTokens;
  readonly dashboard: Dashboard;
  /** Stores the last uses of keys. */
  readonly close: () => Promise<void>;
  /** Lists the ids of all workspaces that have a key or people, and the default workspace. */
  readonly listWorkspaces: () => Promise<readonly string[]>;
}

interface AccessParts {
  readonly options: Pick<ServerOptions, 'isOpen' | 'dashboardDirectory' | 'oidcConfigFile'>;
  readonly storage: Pick<ServerStorage, 'signingKey' | 'keyLocation'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the keys of people and environments, which are stored, and the tokens of sessions, which are signed. */
export async function openAccess({ options, storage, store, clock, onProblem }: AccessParts): Promise<OpenedAccess> {
  const { signingKey } = storage;
  const signOn = await openSignOn(options, { signingKey, store, clock });
  const { keys, firstSecret: firstKey } =
    options.isOpen === true
      ? { keys: undefined, firstSecret: undefined }
      : await openKeyStore({ ...storage.keyLocation, record: (entry) => store.audit.append([entry]) });
  const saving =
    keys === undefined
      ? undefined
      : repeat({ run: () => keys.saveUses(), everyMs: keyLimits.keyUseWriteMs, schedule: systemSchedule, onProblem });
  const dashboard = createDashboard({
    directory: options.dashboardDirectory,
    keys,
    signingKey,
    clock,
    store,
    signOn,
    onProblem,
  });
  const hasLogin = async (id: string) => (await dashboard.logins.find(id)) !== undefined;
  const isIssuerCurrent = createTokenIssuers({ keys, store, clock, hasLogin });
  const tokens = createSessionTokens({ signingKey, clock, isIssuerCurrent });
  return {
    access:
      keys === undefined
        ? 'open'
        : anyOf(...(dashboard.sessions === undefined ? [] : [dashboard.sessions]), tokens, keys),
    keys,
    firstKey,
    tokens,
    dashboard,
    close: async () => await saving?.close(),
    listWorkspaces: async () => {
      const ids = ((await keys?.list()) ?? []).map(({ workspaceId }) => workspaceId);
      return [...new Set([DEFAULT_WORKSPACE, ...ids, ...(signOn?.workspaces ?? [])])];
    },
  };
}

/** Opens the OpenID providers; undefined without a configuration. Throws if the configuration is not valid. */
async function openSignOn(
  { isOpen, oidcConfigFile: file }: AccessParts['options'],
  parts: Omit<SingleSignOnOptions, 'config'>,
): Promise<SingleSignOn | undefined> {
  if (file === undefined) return undefined;
  const config = await readOidcConfig(file, process.env);
  if (isOpen !== true) return createSingleSignOn({ ...parts, config });
  throw new FleetloomError({
    code: 'invalid_oidc_config',
    kind: 'caller',
    problem: 'single sign-on is configured on a server that needs no key',
    advice: 'leave out --open or --oidc-config',
  });
}
