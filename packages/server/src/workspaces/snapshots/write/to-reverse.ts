import { toBytePath } from '../objects/path-text.ts';
import type { JournalChange } from './write-journal.ts';

/** The changes that undo the given changes, in the order in which files are written. */
export function toReverse(changes: readonly JournalChange[]): readonly JournalChange[] {
  const sorted = changes.toSorted((one, other) => (toBytePath(one.path) < toBytePath(other.path) ? -1 : 1));
  return sorted.map(({ path, before, after }) => ({ path, before: after, after: before }));
}
