import { viewLimits } from '../limits.ts';
import type { FleetCursor } from './fleet-cursor.ts';

/**
 * The cursor of a reader of all sessions. The position is exact for the sessions that it names. Of all others the reader has
 * every run that began before `since`; later runs are sent again from their beginning.
 */
export interface FleetToken {
  readonly since: number;
  readonly cursors: ReadonlyMap<string, FleetCursor>;
}

/** Encodes a token with characters that need no escaping, so that it cannot be mistaken for the cursor of a session. */
export function encodeToken({ since, cursors }: FleetToken): string {
  const parts = [...cursors].map(([sessionId, { seq, index }]) => {
    return `${sessionId.replace(/^sesn_/, '')}.${seq}.${Number.isFinite(index) ? index : ''}`;
  });
  return ['all', since.toString(36), ...parts].join('~');
}

/** Undefined if the text is not a token. */
export function parseToken(text: string): FleetToken | undefined {
  const [name, since = '', ...parts] = text.split('~');
  if (name !== 'all' || !/^[0-9a-z]{1,10}$/.test(since) || parts.length > viewLimits.fleetTokenSessionsMax)
    return undefined;
  const cursors = new Map<string, FleetCursor>();
  for (const part of parts) {
    const match = /^(\w{1,64})\.(\d{1,15})\.(\d{0,9})$/.exec(part);
    if (match === null) return undefined;
    const [, id, seq, index] = match;
    cursors.set(`sesn_${id}`, { seq: Number(seq), index: index === '' ? Number.POSITIVE_INFINITY : Number(index) });
  }
  return { since: Number.parseInt(since, 36), cursors };
}
