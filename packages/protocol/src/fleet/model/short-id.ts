import { limits } from './limits.ts';

/**
 * The beginning of a session's id, without the part that all ids have. It names the time of creation and two further characters, so
 * it is unique unless sessions are created in the same millisecond.
 *
 * @example
 * toShortId('sesn_0101kdvdna00w8v1yk3x2q7d'); // '01kdvdna00w8'
 */
export function toShortId(id: string): string {
  return withoutLead(id).slice(0, limits.shortIdChars);
}

/**
 * The beginning of an id as a person typed it, in the form of ids: with or without `sesn_01`, in any case. Undefined if no id begins
 * like that.
 */
export function toIdPrefix(typed: string): string | undefined {
  const text = typed.trim().toLowerCase();
  const rest = withoutLead(text);
  if (LEAD.startsWith(text) || !/^[0-9a-z]*$/.test(rest)) return undefined;
  return rest.length > limits.idChars ? undefined : `${LEAD}${rest}`;
}

/** Whether a text has the form of a whole id. */
export function isSessionId(text: string): boolean {
  return text.startsWith('sesn_') && text.length >= LEAD.length + limits.idChars;
}

/** The prefix of every id of this version of ids. */
const LEAD = 'sesn_01';

function withoutLead(id: string): string {
  if (id.startsWith(LEAD)) return id.slice(LEAD.length);
  return id.startsWith('sesn_') ? id.slice('sesn_'.length) : id;
}
