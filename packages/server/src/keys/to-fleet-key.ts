import type { FleetKey } from '@fleetloom/protocol/fleet';
import type { StoredKey } from './key-file.ts';

/** A key as it is shown: without its digests. */
export function toFleetKey(key: StoredKey, lastUsedAt: number | undefined): FleetKey {
  const { id, name, kind, createdAt } = key;
  const limits = key.kind === 'api' ? key : undefined;
  const untils = (limits?.previous ?? []).map(({ until }) => until);
  return {
    id,
    name,
    kind,
    created_at: new Date(createdAt).toISOString(),
    scopes: limits?.scopes ?? null,
    directories: limits?.directories ?? null,
    engines: limits?.engines ?? null,
    expires_at: toTime(limits?.expiresAt),
    last_used_at: toTime(lastUsedAt),
    rotated_at: toTime(limits?.rotatedAt),
    overlap_until: untils.length === 0 ? null : toTime(Math.max(...untils)),
  };
}

function toTime(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
