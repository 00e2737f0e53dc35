import type { Clock } from '../base/clock.ts';
import { systemSchedule } from '../base/schedule.ts';
import type { Logins } from '../http/dashboard/logins.ts';
import { isPersonId } from '../keys/person.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { createPush, type Push } from '../push/push.ts';
import { openVapid } from '../push/vapid.ts';
import type { Store } from '../store/store.ts';
import type { HostResolver } from '../tools/network/host-resolver.ts';
import type { ServerOptions } from './server-options.ts';
import type { ServerStorage } from './server-storage.ts';

/** The parts of a server that Web Push uses. */
export interface OpenPush {
  readonly options: Pick<ServerOptions, 'allowedPrivateHosts' | 'pushContact'>;
  readonly store: Store;
  readonly storage: Pick<ServerStorage, 'owner' | 'isLeader'>;
  readonly resolver: HostResolver;
  /** Encrypts the private key where nodes share the store. */
  readonly secret: string | undefined;
  /** The API keys of the server, once they are open; undefined if it has none. */
  readonly keys: () => KeyStore | undefined;
  readonly logins: () => Pick<Logins, 'list'>;
  readonly clock: Clock;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens Web Push with the address rules of the operator. */
export function openPush(parts: OpenPush): Push {
  const { options, store, storage, resolver, secret, keys, logins, clock, onProblem } = parts;
  const { allowedPrivateHosts = [], pushContact = process.env['FLEETLOOM_PUSH_CONTACT'] ?? CONTACT } = options;
  return createPush({
    store,
    openVapid: () => openVapid(store, secret),
    contact: pushContact,
    rules: { resolveHost: resolver.forSession(), allowedPrivateHosts },
    hasKey: async (workspaceId, keyId) => {
      // A device of a person receives messages while the person is signed in on any browser.
      if (isPersonId(keyId)) return (await logins().list(workspaceId)).some((login) => login.keyId === keyId);
      const known = keys();
      return known === undefined || (await known.findById(keyId))?.workspaceId === workspaceId;
    },
    holder: storage.owner,
    isMine: () => storage.isLeader(),
    clock,
    schedule: systemSchedule,
    onProblem,
  });
}

/** A reserved domain: some push services reject signatures without a contact. */
const CONTACT = 'mailto:fleetloom@example.com';
