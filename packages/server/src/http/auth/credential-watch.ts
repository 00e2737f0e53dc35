import { keyLimits } from '../../keys/limits.ts';
import { inBackground } from '../../base/in-background.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Access } from './authenticate.ts';

/**
 * Closes the requests and responses of a credential that is no longer valid: revoked, signed out or expired, on this node or on
 * another. A request is authenticated once, when its headers arrive, but its body may take minutes, and a stream stays open for
 * days.
 */
export interface CredentialWatch {
  /** Calls `onEnd` once, when the secret is no longer valid. Returns a function that ends the watch. */
  add(secret: string, onEnd: () => void): () => void;
  close(): void;
}

/** The store in which credentials are looked up again, and how often. */
export interface CredentialWatchOptions {
  readonly access: Access;
  readonly schedule?: Schedule | undefined;
  /** Receives failures of the look-up. Responses stay open then: an unavailable store does not revoke keys. */
  readonly onError: (error: unknown) => void;
}

/** Starts the periodic look-up of all watched credentials. */
export function createCredentialWatch(options: CredentialWatchOptions): CredentialWatch {
  const { access, schedule = systemSchedule, onError } = options;
  const watched = new Map<string, Set<() => void>>();
  let cancel: Cancel | undefined;
  let isFailing = false;

  return {
    add: (secret, onEnd) => {
      if (access === 'open') return () => {};
      const own = () => onEnd();
      const known = watched.get(secret) ?? new Set();
      watched.set(secret, known.add(own));
      cancel ??= schedule(look, keyLimits.credentialCheckMs);
      return () => {
        if (known.delete(own) && known.size === 0 && watched.get(secret) === known) watched.delete(secret);
      };
    },
    close: () => {
      watched.clear();
      cancel?.();
    },
  };

  function look(): void {
    inBackground(
      Promise.all([...watched.keys()].map(check))
        .then(() => void (isFailing = false), report)
        .finally(() => {
          cancel = watched.size === 0 ? undefined : schedule(look, keyLimits.credentialCheckMs);
        }),
      onError,
    );
  }

  /** Reports an outage once, not several times a second until the store is available again. */
  function report(error: unknown): void {
    if (!isFailing) onError(error);
    isFailing = true;
  }

  async function check(secret: string): Promise<void> {
    if (access === 'open' || (await access.find(secret)) !== undefined) return;
    const ended = watched.get(secret) ?? new Set();
    watched.delete(secret);
    for (const onEnd of ended) onEnd();
  }
}
