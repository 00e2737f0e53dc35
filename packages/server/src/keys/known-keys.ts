import type { StoredKey } from './key-file.ts';
import { digestOf, isSameDigest } from './secret.ts';

/** Keys that were read, by what they are looked up by. A search costs the same for one key and for thousands. */
export class KnownKeys {
  /** By the names under which they are stored. */
  readonly byName: ReadonlyMap<string, StoredKey>;
  readonly #byDigest = new Map<string, StoredKey>();
  readonly #byId = new Map<string, StoredKey>();

  constructor(byName: ReadonlyMap<string, StoredKey> = new Map()) {
    this.byName = byName;
    for (const key of byName.values()) {
      this.#byDigest.set(key.sha256, key);
      this.#byId.set(key.id, key);
    }
  }

  /**
   * The key with this secret. The time of the look-up depends on the digest of what was sent, and a sender cannot choose
   * digests that come close to the one of a key.
   */
  findBySecret(secret: string): StoredKey | undefined {
    const digest = digestOf(secret);
    const key = this.#byDigest.get(digest.toString('hex'));
    return key !== undefined && isSameDigest(Buffer.from(key.sha256, 'hex'), digest) ? key : undefined;
  }

  findById(id: string): StoredKey | undefined {
    return this.#byId.get(id);
  }

  /** How many keys count against each limit. */
  countByScope(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const key of this.byName.values()) {
      const scope = limitScopeOf(key);
      counts.set(scope, (counts.get(scope) ?? 0) + 1);
    }
    return counts;
  }

  /** The same keys after a change. */
  with(change: (keys: Map<string, StoredKey>) => void): KnownKeys {
    const changed = new Map(this.byName);
    change(changed);
    return new KnownKeys(changed);
  }
}

/** What a key counts against. Only the operator makes API keys; every key holder of a workspace makes environment keys. */
export function limitScopeOf({ kind, workspaceId }: Pick<StoredKey, 'kind' | 'workspaceId'>): string {
  return kind === 'api' ? API_KEYS : `environment keys of ${workspaceId}`;
}

/** The scope of all API keys. */
export const API_KEYS = 'API keys';
