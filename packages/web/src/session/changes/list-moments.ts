import { formatClock, plural } from '../../model/format.ts';
import type { WorkspaceStep } from '../../model/workspace-log.ts';
import { changesTabLimits } from './limits.ts';

/** A moment to which files can be restored. */
export interface Moment {
  /** A cursor, or `start`. */
  readonly at: string;
  readonly label: string;
}

/** The moment shown, the recorded changes except the last one, whose state the files have, and the beginning; the newest first. */
export function listMoments(steps: readonly WorkspaceStep[], shown: string): readonly Moment[] {
  const past = steps.slice(0, -1).slice(-changesTabLimits.momentsMax).toReversed();
  const moments = past.map(({ cursor, at, files_count: files, lines_added: added, lines_removed: removed }) => ({
    at: cursor,
    label: `${formatClock(at)}, after a change of ${plural(files, 'file')} (+${added} −${removed})`,
  }));
  const isListed = shown === START || past.some(({ cursor }) => cursor === shown);
  return [
    ...(isListed ? [] : [{ at: shown, label: 'the replayed moment' }]),
    ...moments,
    { at: START, label: 'the beginning, before any change' },
  ];
}

/** The server's name for the state in which the workspace was opened. */
export const START = 'start';
