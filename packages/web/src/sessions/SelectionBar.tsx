import { plural } from '../model/format.ts';
import { applicableTo, type BulkAction } from '../stores/session-actions.ts';
import { useSignal } from '../stores/signal.ts';
import { sessionList, ui } from '../stores/stores.ts';
import { sessionPage } from './session-page.ts';

const actions: readonly { readonly action: BulkAction; readonly label: string; readonly isDanger: boolean }[] = [
  { action: 'cancel', label: 'Cancel …', isDanger: false },
  { action: 'archive', label: 'Archive …', isDanger: false },
  { action: 'delete', label: 'Delete …', isDanger: true },
];

/** Actions on the selected rows, below the table. */
export function SelectionBar() {
  useSignal(sessionPage.changed);
  const chosen = sessionList.rows.filter(({ id }) => sessionPage.checked.has(id));
  if (chosen.length === 0) return null;
  const [only] = chosen.length === 1 ? chosen : [];
  return (
    <div className="selection-bar" role="toolbar" aria-label="Selected sessions">
      <b>{plural(chosen.length, 'session')} selected</b>
      {only !== undefined && (
        <button
          data-needs="manage"
          type="button"
          onClick={() => ui.set({ dialog: { type: 'rename', sessionId: only.id, name: only.title ?? only.name } })}
        >
          Rename …
        </button>
      )}
      {actions.map(({ action, label, isDanger }) => (
        <button
          key={action}
          data-needs={action === 'delete' ? 'manage' : 'run'}
          type="button"
          className={isDanger ? 'danger' : undefined}
          disabled={applicableTo(action, chosen).length === 0}
          onClick={() => ui.set({ dialog: { type: action, sessions: chosen } })}
        >
          {label}
        </button>
      ))}
      <button type="button" className="clear-selection" onClick={() => sessionPage.clear()}>
        Clear <kbd>Esc</kbd>
      </button>
    </div>
  );
}
