import type { WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { formatClock, plural } from '../../model/format.ts';
import { threadName } from '../../model/thread-name.ts';
import type { ShownSession } from '../../stores/fleet-store.ts';
import { fleet, ui } from '../../stores/stores.ts';
import { changesPage } from './changes-page.ts';
import { START } from './list-moments.ts';
import { listTurns } from './select-range.ts';

interface ToolbarProps {
  readonly shown: ShownSession;
  readonly changes: WorkspaceChanges | undefined;
  /** Position of the replayed moment; undefined if the session is shown live. */
  readonly at: number | undefined;
}

/** Filters of the changes, the format of the diff, and the actions. */
export function ChangesToolbar({ shown, changes, at }: ToolbarProps) {
  const { session, rows } = shown;
  const past = session.workspace.steps.filter(({ seq }) => at === undefined || seq <= at);
  const threads = new Set(past.map(({ threadId }) => threadId));
  const nameOf = (threadId: string | null) => {
    const row = rows.find((one) => one.threadId === threadId);
    return row === undefined ? (threadId ?? 'outside of threads') : threadName(row);
  };
  const { threadId, turn, isSideBySide } = changesPage;
  const turns = listTurns(past).filter((one) => threadId === undefined || one.threadId === threadId);
  return (
    <div className="changes-toolbar">
      <select
        aria-label="Thread"
        value={threadId ?? ''}
        onChange={({ target }) => changesPage.set({ threadId: target.value || undefined, turn: undefined })}
      >
        <option value="">All threads</option>
        {[...threads].map(
          (id) =>
            id !== null && (
              <option key={id} value={id}>
                {nameOf(id)}
              </option>
            ),
        )}
        {threadId !== undefined && !threads.has(threadId) && <option value={threadId}>{nameOf(threadId)}</option>}
      </select>
      <select
        aria-label="Turn"
        value={turn ?? ''}
        onChange={({ target }) => changesPage.set({ turn: target.value || undefined })}
      >
        <option value="">All turns</option>
        {turns.map((one) => (
          <option key={one.id} value={one.id}>
            {formatClock(one.startedAt)} {nameOf(one.threadId)}, turn {one.number} ({plural(one.steps, 'change')})
          </option>
        ))}
        {turn !== undefined && turns.every(({ id }) => id !== turn) && <option value={turn}>a later turn</option>}
      </select>
      <span className="choice diff-form" role="group" aria-label="Form of the diff">
        <button type="button" aria-pressed={!isSideBySide} onClick={() => changesPage.set({ isSideBySide: false })}>
          Unified
        </button>
        <button type="button" aria-pressed={isSideBySide} onClick={() => changesPage.set({ isSideBySide: true })}>
          Side by side
        </button>
      </span>
      <Actions shown={shown} changes={changes} />
    </div>
  );
}

function Actions({ shown, changes }: Omit<ToolbarProps, 'at'>) {
  if (changes === undefined || changes.to === null) return null;
  const sessionId = shown.session.id;
  const isOpen = changes.state === 'open';
  const { can_apply: can, source, to } = changes;
  const chosen = [...changesPage.chosen];
  const cursor = fleet.replay.cursorIn(sessionId);
  // Whether the session is running now, even while a replay is shown.
  const isRunning = fleet.isRunning(sessionId);
  const canRestore = source.type !== 'directory' || source.mode !== 'read_only';
  const canDiscard = source.type !== 'directory' || source.mode === 'worktree' || source.mode === 'copy';
  return (
    <span className="thread-actions">
      {isOpen && canRestore && (
        <button
          data-needs="run"
          type="button"
          disabled={isRunning}
          title={isRunning ? 'While the session runs, its files cannot be set back.' : undefined}
          onClick={() => ui.set({ dialog: { type: 'restore_changes', sessionId, at: cursor ?? START } })}
        >
          Restore …
        </button>
      )}
      {isOpen && cursor === undefined && canDiscard && (
        <button
          data-needs="run"
          type="button"
          className="danger"
          disabled={isRunning}
          title={isRunning ? 'While the session runs, its workspace cannot be removed.' : undefined}
          onClick={() => ui.set({ dialog: { type: 'discard_changes', sessionId } })}
        >
          Discard …
        </button>
      )}
      {isOpen && (can.working_tree || can.branch) && (
        <button
          data-needs="run"
          type="button"
          className="primary"
          disabled={changes.files_count === 0}
          onClick={() =>
            ui.set({ dialog: { type: 'apply_changes', sessionId, at: to.cursor, time: to.time, chosen, can } })
          }
        >
          {chosen.length === 0 ? 'Apply all …' : `Apply ${chosen.length} chosen …`} <kbd>a</kbd>
        </button>
      )}
    </span>
  );
}
