/** A position in a fleet stream: after the event with this index among the events of a frame. */
export interface FleetCursor {
  readonly seq: number;
  readonly index: number;
}

/** The cursor before the first event. */
export const LOG_START: FleetCursor = { seq: 0, index: Number.POSITIVE_INFINITY };

/** The cursor after all events of a frame. */
export function afterFrame(seq: number): FleetCursor {
  return { seq, index: Number.POSITIVE_INFINITY };
}

/** Whether a cursor is later than another one. */
export function isAfter(cursor: FleetCursor, other: FleetCursor): boolean {
  return cursor.seq === other.seq ? cursor.index > other.index : cursor.seq > other.seq;
}

/** `seq` or `seq.index`, as the view writes them. Undefined if the text is not a cursor. */
export function parseCursor(cursor: string): FleetCursor | undefined {
  const match = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(cursor);
  return match === null ? undefined : { seq: Number(match[1]), index: Number(match[2] ?? 0) };
}
