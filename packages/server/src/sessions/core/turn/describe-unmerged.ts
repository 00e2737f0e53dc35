import type { ChangedFile } from '../../../frames/workspace-frames.ts';
import type { ThreadState } from '../state/state.ts';

/** What a thread has changed in its own worktree, for the report to its parent. Null if it has none. */
export function describeUnmerged({ id, isolation }: Pick<ThreadState, 'id' | 'isolation'>): string | null {
  if (isolation === null || isolation.tree === null) return null;
  const { branch, unmerged } = isolation;
  const place = branch === null ? 'its own worktree' : `its own worktree (branch ${branch})`;
  if (unmerged === null || unmerged.files_count === 0) return `[It has changed no files in ${place}.]`;
  const { files, files_count: count, lines_added: added, lines_removed: removed } = unmerged;
  const lines = files.map(toLine);
  const more = count > lines.length ? [`… and ${count - lines.length} more`] : [];
  const title = `${count} ${count === 1 ? 'file' : 'files'} changed in ${place}, +${added} −${removed}:`;
  const how = `Take them over with merge_changes {"thread_id": "${id}"}.`;
  return `[${[title, ...lines, ...more, how].join('\n')}]`;
}

function toLine({ path, status, added, removed }: ChangedFile): string {
  return `${status} ${path}${added === null ? '' : ` +${added} −${removed}`}`;
}
