import type { ThreadWorktree } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatClock, plural } from '../../model/format.ts';
import { LineCounts } from '../../ui/LineCounts.tsx';
import { changesPage } from './changes-page.ts';

/** The threads with worktrees of their own, and whether their changes were merged into the workspace. */
export function Worktrees({ worktrees }: { worktrees: readonly ThreadWorktree[] }) {
  if (worktrees.length === 0) return null;
  const open = worktrees.filter(({ files_count: count }) => count > 0).length;
  return (
    <details open={open > 0}>
      <summary data-ink={open > 0 ? 'needs' : undefined}>
        {plural(worktrees.length, 'thread')} with a worktree, {open === 0 ? 'nothing to merge' : `${open} not merged`}
      </summary>
      <ul>
        {worktrees.map((worktree) => (
          <li key={worktree.session_thread_id}>
            <button
              type="button"
              onClick={() => changesPage.set({ threadId: worktree.session_thread_id, turn: undefined })}
            >
              {cleanLine(worktree.agent_name ?? worktree.session_thread_id)}
            </button>{' '}
            {worktree.branch !== null && <code>{cleanLine(worktree.branch)}</code>} <MergeState worktree={worktree} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function MergeState({ worktree }: { worktree: ThreadWorktree }) {
  const { files_count: count, merged_at: mergedAt, lines_added: added, lines_removed: removed } = worktree;
  const merged = mergedAt === null ? undefined : `merged at ${formatClock(Date.parse(mergedAt))}`;
  if (count === 0) return <span className="quiet">{merged ?? 'no changes'}</span>;
  return (
    <span data-ink="needs">
      {merged !== undefined && `${merged}, then `}
      {plural(count, 'file')} changed and not merged, <LineCounts added={added} removed={removed} />
    </span>
  );
}
