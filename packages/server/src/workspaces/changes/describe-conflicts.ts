import { snapshotLimits } from '../snapshots/objects/limits.ts';
import type { MergeConflict } from '../snapshots/merge-trees.ts';

/** Describes conflicts to an agent: each file with the reason and the conflicting lines. Long lists and long parts are truncated. */
export function describeConflicts(conflicts: readonly MergeConflict[]): string {
  const shown = conflicts.slice(0, snapshotLimits.describedConflictsMax);
  let charsLeft: number = snapshotLimits.conflictCharsMax;
  const texts = shown.map((conflict) => {
    const hunks = toHunks(conflict, charsLeft);
    charsLeft -= hunks.join('').length;
    return [`${conflict.path}: ${REASONS[conflict.reason]}`, ...hunks].join('\n');
  });
  const more = conflicts.length > shown.length ? [`… and ${conflicts.length - shown.length} more files`] : [];
  return [...texts, ...more].join('\n');
}

const REASONS: Record<MergeConflict['reason'], string> = {
  content: 'both changed the same lines',
  kind: 'both changed the file, and it cannot be merged by lines',
  directory: 'a file on one side is a directory on the other',
};

/** The reason of a conflict as text, with the first conflicting lines of the workspace's file. */
export function describeMergeConflict({ reason, marked = '' }: MergeConflict): string {
  const ranges = toRanges(marked);
  if (ranges.length === 0) return REASONS[reason];
  const more = ranges.length > RANGES_MAX ? ` and ${ranges.length - RANGES_MAX} more` : '';
  return `${REASONS[reason]} (in the workspace: ${ranges.slice(0, RANGES_MAX).join(', ')}${more})`;
}

/** Conflicting line ranges of a file that the reason names. */
const RANGES_MAX = 5;

/** `line 3`, `lines 3–5`, or `after line 2` where the workspace has no lines; numbers count only the lines of our side. */
function toRanges(marked: string): string[] {
  const ranges: string[] = [];
  let [line, first, side]: [number, number, 'both' | 'ours' | 'theirs'] = [0, 0, 'both'];
  for (const text of marked.split('\n')) {
    if (side === 'both' && text === '<<<<<<< ours') [side, first] = ['ours', line + 1];
    else if (side === 'ours' && text === '=======') {
      side = 'theirs';
      if (line < first) ranges.push(`after line ${line}`);
      else ranges.push(line === first ? `line ${line}` : `lines ${first}–${line}`);
    } else if (side === 'theirs' && text === '>>>>>>> theirs') side = 'both';
    else if (side !== 'theirs') line += 1;
  }
  return ranges;
}

/** The conflicting parts of a file, with the lines of both sides between markers. */
export function toHunks({ marked }: MergeConflict, charsMax: number = snapshotLimits.conflictCharsMax): string[] {
  const hunks: string[] = [];
  let [hunk, chars]: [string[] | undefined, number] = [undefined, 0];
  for (const line of (marked ?? '').split('\n')) {
    if (line === '<<<<<<< ours') hunk = [];
    hunk?.push(line);
    if (line !== '>>>>>>> theirs' || hunk === undefined) continue;
    const text = hunk.join('\n');
    hunk = undefined;
    chars += text.length;
    if (chars > charsMax) return [...hunks, '(more lines conflict)'];
    hunks.push(text);
  }
  return hunks;
}
