import type { Clock } from '../base/clock.ts';
import { keyLimits } from './limits.ts';
import type { Store } from '../store/store.ts';
import type { KeyStore } from './key-store.ts';
import { isPersonId } from './person.ts';

/** The key and the resources that a session token depends on. The token is valid as long as all of them exist. */
export interface TokenIssuer {
  /** The key that the worker had when it got the token. */
  readonly keyId: string;
  /** The login, if it was a signed-in browser. */
  readonly loginId?: string | undefined;
  readonly workspaceId: string;
  readonly environmentId: string;
}

export interface TokenIssuersOptions {
  readonly keys: Pick<KeyStore, 'findById'> | undefined;
  readonly store: Pick<Store, 'environments'>;
  readonly clock: Clock;
  /** Whether a signed-in browser still is. */
  readonly hasLogin: (loginId: string) => Promise<boolean>;
}

/** Whether tokens of an issuer still count: not when its key was revoked or the environment deleted. */
export function createTokenIssuers({
  keys,
  store,
  clock,
  hasLogin,
}: TokenIssuersOptions): (issuer: TokenIssuer) => Promise<boolean> {
  /** Workers send their token with every heartbeat, and environments are few. */
  const seen = new Map<string, number>();

  return async ({ keyId, loginId, workspaceId, environmentId }) => {
    if (loginId !== undefined && !(await hasLogin(loginId))) return false;
    // A person has no key, only a login.
    if (isPersonId(keyId)) return loginId !== undefined && (await isThere(workspaceId, environmentId));
    const key = await keys?.findById(keyId);
    if (key === undefined || key.workspaceId !== workspaceId) return false;
    if (key.kind !== 'api' && key.environmentId !== environmentId) return false;
    return await isThere(workspaceId, environmentId);
  };

  async function isThere(workspaceId: string, environmentId: string): Promise<boolean> {
    const scope = `${workspaceId} ${environmentId}`;
    const seenAt = seen.get(scope);
    if (seenAt !== undefined && clock.steady() - seenAt < keyLimits.credentialCheckMs) return true;
    seen.delete(scope);
    if ((await store.environments.get(workspaceId, environmentId)) === undefined) return false;
    seen.set(scope, clock.steady());
    const [oldest] = seen.keys();
    if (seen.size > keyLimits.apiKeysMax) seen.delete(oldest!);
    return true;
  }
}
