import type { FleetSession } from '@fleetloom/protocol/fleet';

/**
 * For each session a short id that is not a prefix of another listed session: sessions that were created in the same millisecond
 * have equal beginnings, and a command would reject them as ambiguous.
 */
export function toDistinctIds(sessions: readonly Pick<FleetSession, 'id' | 'short_id'>[]): ReadonlyMap<string, string> {
  const sorted = sessions.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  return new Map(
    sorted.map(({ id, short_id: short }, index) => {
      const from = id.indexOf(short);
      const shared = Math.max(countShared(id, sorted[index - 1]?.id), countShared(id, sorted[index + 1]?.id));
      return [id, id.slice(from, Math.max(from + short.length, shared + 1))];
    }),
  );
}

/** How many characters two ids have in common at their beginning. */
function countShared(id: string, other = ''): number {
  let count = 0;
  while (count < id.length && id[count] === other[count]) count += 1;
  return count;
}
