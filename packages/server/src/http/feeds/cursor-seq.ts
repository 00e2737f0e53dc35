import { cutText } from '@fleetloom/protocol/fleet';
import { requestError } from '../../base/request-error.ts';
import { parseCursor } from '../../views/fleet/fleet-cursor.ts';

/** The position that a cursor of a session names. Throws a request error that begins with the name of the field. */
export function toSeq(field: string, cursor: string, head: number): number {
  const place = parseCursor(cursor);
  if (place === undefined) {
    throw requestError('invalid_request', `${field}: ${cutText(cursor, 40)} is not a cursor`, {
      advice: 'use the cursor of an event of the fleet stream, or leave it out',
    });
  }
  if (place.seq <= head) return place.seq;
  throw requestError(
    'invalid_request',
    `${field}: ${cursor} is after the end of the log, whose last cursor is ${head}`,
    { advice: 'use the cursor of an event of this session, or leave it out' },
  );
}
