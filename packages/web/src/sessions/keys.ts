import { noFilter, parseFilter } from '../model/session-filter.ts';
import { openThread, refuseInReplay } from '../stores/actions.ts';
import { applicableTo, type BulkAction } from '../stores/session-actions.ts';
import { sessionList, ui } from '../stores/stores.ts';
import type { KeyMap } from '../ui/page.ts';
import { sessionPage, showFilter } from './session-page.ts';

/** Keys of the Sessions page. */
export const sessionsKeys: KeyMap = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: () => {
    const current = sessionPage.current();
    if (current !== undefined) openThread({ sessionId: current.id, threadId: null });
  },
  ' ': () => {
    const { currentId } = sessionPage;
    if (currentId !== undefined) sessionPage.check([currentId], !sessionPage.checked.has(currentId));
  },
  r: () => {
    const current = sessionPage.current();
    if (current === undefined || refuseInReplay()) return;
    ui.set({ dialog: { type: 'rename', sessionId: current.id, name: current.title ?? current.name } });
  },
  x: () => ask('cancel'),
  e: () => ask('archive'),
  Delete: () => ask('delete'),
  '/': () => document.querySelector<HTMLInputElement>('#search')?.focus(),
  Escape: () => {
    if (sessionPage.checked.size > 0) return sessionPage.clear();
    const { sort, order } = parseFilter(ui.route.search ?? '');
    showFilter({ ...noFilter, sort, order });
  },
};

/** Opens the dialog of an action on the checked rows, or on the current one. */
function ask(action: BulkAction): void {
  const sessions = sessionPage.chosen();
  if (sessions.length === 0) return ui.notify('Select a session first, with j and k.');
  if (applicableTo(action, sessions).length === 0)
    return ui.notify(
      action === 'cancel' ? 'The session is not running.' : 'A running session has to be cancelled first (x).',
      true,
    );
  if (!refuseInReplay()) ui.set({ dialog: { type: action, sessions } });
}

/** Moves the current row by one row down or up, and scrolls to it. */
function move(by: 1 | -1): void {
  const { rows } = sessionList;
  const index = rows.findIndex(({ id }) => id === sessionPage.currentId);
  const next = rows[index === -1 ? 0 : Math.max(0, Math.min(rows.length - 1, index + by))];
  if (next === undefined) return;
  sessionPage.setCurrent(next.id);
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>('.session-line[data-current=true]');
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  });
}
