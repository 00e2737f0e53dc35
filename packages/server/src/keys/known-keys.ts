import type { StoredKey } from './key-file.ts';
import { digestOf, isSameDigest } from './secret.ts';

/** Keys that were read, by what they are looked up by. A search costs the same for one key and for thousands. */
export class KnownKeys {
  /** Keys by their stored names. */
  readonly byName: ReadonlyMap<string, StoredKey>;
  readonly #byDigest = new Map<string, Secret>();
  readonly #byId = new Map<string, StoredKey>();

  constructor(byName: ReadonlyMap<string, StoredKey> = new Map()) {
    this.byName = byName;
    for (const key of byName.values()) {
      // A rotation adds the key under another name before it removes the old form: of both, the newer one is valid.
      if (rotationsOf(key) >= rotationsOf(this.#byId.get(key.id))) this.#byId.set(key.id, key);
    }
    for (const key of this.#byId.values()) {
      for (const { sha256, until } of key.kind === 'api' ? (key.previous ?? []) : []) {
        this.#byDigest.set(sha256, { key, sha256, until });
      }
      this.#byDigest.set(key.sha256, { key, sha256: key.sha256, until: undefined });
    }
  }

  /** Every key once. */
  get all(): readonly StoredKey[] {
    return [...this.#byId.values()];
  }

  /**
   * The key with this secret at a time. The time of the look-up depends on the digest of what was sent, and a sender cannot
   * choose digests that come close to the one of a key.
   */
  findBySecret(secret: string, now: number): StoredKey | undefined {
    const digest = digestOf(secret);
    const found = this.#byDigest.get(digest.toString('hex'));
    if (found === undefined || !isSameDigest(Buffer.from(found.sha256, 'hex'), digest)) return undefined;
    if (found.until !== undefined && found.until <= now) return undefined;
    return isExpired(found.key, now) ? undefined : found.key;
  }

  /** The key, if it has not expired. */
  findById(id: string, now: number): StoredKey | undefined {
    const key = this.#byId.get(id);
    return key === undefined || isExpired(key, now) ? undefined : key;
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

/** A secret that is accepted for a key: its own, or until a time one that it had before. */
interface Secret {
  readonly key: StoredKey;
  readonly sha256: string;
  readonly until: number | undefined;
}

function rotationsOf(key: StoredKey | undefined): number {
  return key?.kind === 'api' ? (key.rotations ?? 0) : 0;
}

function isExpired(key: StoredKey, now: number): boolean {
  return key.kind === 'api' && key.expiresAt !== undefined && key.expiresAt <= now;
}

/** The limit that a key counts against. Only the operator creates API keys; every key holder of a workspace creates environment keys. */
export function limitScopeOf({ kind, workspaceId }: Pick<StoredKey, 'kind' | 'workspaceId'>): string {
  return kind === 'api' ? API_KEYS : `environment keys of ${workspaceId}`;
}

/** The scope of all API keys. */
export const API_KEYS = 'API keys';
