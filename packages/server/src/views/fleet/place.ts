/** Where a reader of a fleet stream is: behind an event, which is one of those that a frame gives. */
export interface Place {
  readonly seq: number;
  readonly index: number;
}

/** Before everything. */
export const BEGINNING: Place = { seq: 0, index: Number.POSITIVE_INFINITY };

/** Behind everything that a frame gives. */
export function behindFrame(seq: number): Place {
  return { seq, index: Number.POSITIVE_INFINITY };
}

export function isBehind(place: Place, other: Place): boolean {
  return place.seq === other.seq ? place.index > other.index : place.seq > other.seq;
}

/** `seq` or `seq.index`, as the view writes them. Undefined: it is none of them. */
export function parseCursor(cursor: string): Place | undefined {
  const match = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(cursor);
  return match === null ? undefined : { seq: Number(match[1]), index: Number(match[2] ?? 0) };
}
