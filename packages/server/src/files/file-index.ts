/**
 * The sorted ids of the uploads of each workspace. The cost of a page depends only on its length, and a count is free, whatever other
 * workspaces have. Ids begin with the time of the upload, so new ones are added at the end.
 */
export class FileIndex {
  readonly #workspaces = new Map<string, string[]>();
  /** Expiry times, by the ids of files that expire. */
  readonly #expiries = new Map<string, number>();
  /** A time at or before the next expiry in each workspace. */
  readonly #nextExpiries = new Map<string, number>();

  add(workspaceId: string, id: string, expiresAt: number | null): void {
    const ids = this.#workspaces.get(workspaceId) ?? [];
    const at = findPlace(ids, id);
    if (ids[at] === id) return;
    ids.splice(at, 0, id);
    this.#workspaces.set(workspaceId, ids);
    if (expiresAt === null) return;
    this.#expiries.set(id, expiresAt);
    this.#noteExpiry(workspaceId, expiresAt);
  }

  remove(workspaceId: string, id: string): void {
    const ids = this.#workspaces.get(workspaceId);
    const at = ids === undefined ? 0 : findPlace(ids, id);
    this.#expiries.delete(id);
    if (ids?.[at] !== id) return;
    ids.splice(at, 1);
    if (ids.length === 0) this.#workspaces.delete(workspaceId);
  }

  count(workspaceId: string): number {
    return this.#workspaces.get(workspaceId)?.length ?? 0;
  }

  /** Up to `limit` ids between two others, the largest first, or the smallest first if `isAscending`. */
  find(workspaceId: string, { limit, above, below, isAscending = false }: IndexRange): string[] {
    const ids = this.#workspaces.get(workspaceId) ?? [];
    const first = above === undefined ? 0 : findPlace(ids, above, true);
    const end = below === undefined ? ids.length : findPlace(ids, below);
    if (end <= first) return [];
    return isAscending
      ? ids.slice(first, Math.min(end, first + limit))
      : ids.slice(Math.max(first, end - limit), end).toReversed();
  }

  /** Removes the expired files of a workspace from the index and returns their ids. Scans the files only if one may have expired. */
  takeExpired(workspaceId: string, now: number): readonly string[] {
    if ((this.#nextExpiries.get(workspaceId) ?? Number.POSITIVE_INFINITY) > now) return NONE;
    this.#nextExpiries.delete(workspaceId);
    const [kept, expired]: [string[], string[]] = [[], []];
    for (const id of this.#workspaces.get(workspaceId) ?? []) {
      const expiresAt = this.#expiries.get(id);
      const isOver = expiresAt !== undefined && expiresAt <= now;
      (isOver ? expired : kept).push(id);
      if (isOver) this.#expiries.delete(id);
      else if (expiresAt !== undefined) this.#noteExpiry(workspaceId, expiresAt);
    }
    if (kept.length === 0) this.#workspaces.delete(workspaceId);
    else this.#workspaces.set(workspaceId, kept);
    return expired;
  }

  #noteExpiry(workspaceId: string, expiresAt: number): void {
    const next = this.#nextExpiries.get(workspaceId) ?? Number.POSITIVE_INFINITY;
    this.#nextExpiries.set(workspaceId, Math.min(next, expiresAt));
  }
}

const NONE: readonly string[] = [];

/** The range of ids to find. Neither bound is included. */
export interface IndexRange {
  readonly limit: number;
  readonly above?: string | undefined;
  readonly below?: string | undefined;
  readonly isAscending?: boolean;
}

/** The index at which an id is, or would be inserted; with `isBehind` the index after it. */
function findPlace(ids: readonly string[], id: string, isBehind = false): number {
  let [low, high] = [0, ids.length];
  // New ids are added at the end, which is the most frequent case.
  if (high > 0 && ids[high - 1]! < id) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ids[middle]! < id || (isBehind && ids[middle] === id)) low = middle + 1;
    else high = middle;
  }
  return low;
}
