import { limits } from '../../base/limits.ts';
import type { Place } from './place.ts';

/**
 * Where a reader of all sessions is. Those that it names are known exactly. Of the others it has everything that began
 * before `since`, and of what began later nothing that is worth keeping: that is told again.
 */
export interface FleetToken {
  readonly since: number;
  readonly places: ReadonlyMap<string, Place>;
}

/** As it goes over the wire: letters that need no escaping, and nothing that could be taken for the cursor of a session. */
export function encodeToken({ since, places }: FleetToken): string {
  const parts = [...places].map(([sessionId, { seq, index }]) => {
    return `${sessionId.replace(/^sesn_/, '')}.${seq}.${Number.isFinite(index) ? index : ''}`;
  });
  return ['all', since.toString(36), ...parts].join('~');
}

/** Undefined if it is none. */
export function parseToken(text: string): FleetToken | undefined {
  const [name, since = '', ...parts] = text.split('~');
  if (name !== 'all' || !/^[0-9a-z]{1,10}$/.test(since) || parts.length > limits.fleetTokenSessionsMax)
    return undefined;
  const places = new Map<string, Place>();
  for (const part of parts) {
    const match = /^(\w{1,64})\.(\d{1,15})\.(\d{0,9})$/.exec(part);
    if (match === null) return undefined;
    const [, id, seq, index] = match;
    places.set(`sesn_${id}`, { seq: Number(seq), index: index === '' ? Number.POSITIVE_INFINITY : Number(index) });
  }
  return { since: Number.parseInt(since, 36), places };
}
