import { limits } from '../../base/limits.ts';
import { inBackground } from '../../base/in-background.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Access } from './authenticate.ts';

/**
 * Ends what is open for a credential that does not count any more: revoked, signed out or expired, here or at another node.
 * A request is asked for its credential when it comes; a stream stays for days.
 */
export interface CredentialWatch {
  /** Calls `onEnd` once when the secret does not count any more. Returns what ends the watch. */
  add(secret: string, onEnd: () => void): () => void;
  close(): void;
}

export interface CredentialWatchOptions {
  readonly access: Access;
  readonly schedule?: Schedule | undefined;
  /** Receives failures of the look-up. What is open stays open then: a store that is away revokes nobody. */
  readonly onMishap: (error: unknown) => void;
}

export function createCredentialWatch(options: CredentialWatchOptions): CredentialWatch {
  const { access, schedule = systemSchedule, onMishap } = options;
  const watched = new Map<string, Set<() => void>>();
  let cancel: Cancel | undefined;
  let isFailing = false;

  return {
    add: (secret, onEnd) => {
      if (access === 'open') return () => {};
      const own = () => onEnd();
      const known = watched.get(secret) ?? new Set();
      watched.set(secret, known.add(own));
      cancel ??= schedule(look, limits.credentialCheckMs);
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
          cancel = watched.size === 0 ? undefined : schedule(look, limits.credentialCheckMs);
        }),
      onMishap,
    );
  }

  /** Once, not several times a second until the store is back. */
  function report(error: unknown): void {
    if (!isFailing) onMishap(error);
    isFailing = true;
  }

  async function check(secret: string): Promise<void> {
    if (access === 'open' || (await access.find(secret)) !== undefined) return;
    const ended = watched.get(secret) ?? new Set();
    watched.delete(secret);
    for (const onEnd of ended) onEnd();
  }
}
