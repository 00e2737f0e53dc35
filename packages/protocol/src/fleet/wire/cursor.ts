/**
 * Whether a reader at `last` has seen the event with this cursor.
 *
 * Cursors are integers, or several joined by dots where one frame emits several events: 7 < 7.1 < 8 < 10. Cursors of
 * another form can only be compared for equality.
 */
export function isRepeat(cursor: string, last: string | null): boolean {
  if (cursor === '' || last === null || last === '') return false;
  if (cursor === last) return true;
  // Plain numbers of one length compare as text; nearly all do.
  if (cursor.length === last.length && isDigits(cursor) && isDigits(last)) return cursor < last;
  return isNumeric(cursor) && isNumeric(last) && compareNumeric(cursor, last) <= 0;
}

function isDigits(cursor: string): boolean {
  return /^\d+$/.test(cursor);
}

function isNumeric(cursor: string): boolean {
  return /^\d+(?:\.\d+)*$/.test(cursor);
}

function compareNumeric(left: string, right: string): number {
  const [lefts, rights] = [left.split('.'), right.split('.')];
  for (let index = 0; index < Math.max(lefts.length, rights.length); index++) {
    const difference = comparePart(lefts[index], rights[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Compares two parts as text, because numbers are exact only up to 2^53. A missing part comes first. */
function comparePart(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined) return left === right ? 0 : left === undefined ? -1 : 1;
  const [first, second] = [left.replace(/^0+(?=\d)/, ''), right.replace(/^0+(?=\d)/, '')];
  if (first.length !== second.length) return first.length - second.length;
  return first === second ? 0 : first < second ? -1 : 1;
}
