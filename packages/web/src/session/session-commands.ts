import type { ShownRow } from '../model/summary.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { fleet, ui } from '../stores/stores.ts';
import { toBeside, toHash } from '../stores/ui-store.ts';
import { threadPage } from './transcript/thread-page.ts';

// Actions of keys and buttons of the session page on the shown thread.

/** Asks how to fork the session at the moment shown, or run it again. */
export function forkSession({ sessionId }: ShownRow): void {
  ui.set({ dialog: { type: 'fork', sessionId } });
}

/** Asks for the format in which to export the session. */
export function exportSession({ sessionId }: ShownRow): void {
  ui.set({ dialog: { type: 'export', sessionId } });
}

/** Shows the next thread of the tree beside this one, or hides it. `isCompared` compares both, request by request. */
export function toggleBeside(row: ShownRow, isCompared: boolean): void {
  const { route } = ui;
  if (route.beside !== undefined && (!isCompared || route.isCompared === true))
    return ui.go({ ...route, beside: isCompared ? route.beside : undefined, isCompared: false });
  const rows = fleet.rows().filter(({ sessionId, threadId }) => sessionId === row.sessionId && threadId !== null);
  const index = rows.findIndex(({ key }) => key === row.key);
  const beside = route.beside ?? toBeside(rows[(index + 1) % rows.length] ?? row);
  ui.go({ view: 'session', sessionId: row.sessionId, threadId: row.threadId ?? undefined, beside, isCompared });
}

/** Copies a link to this session, thread and event. */
export function copyLink({ sessionId, threadId }: ShownRow): void {
  const hash = toHash({ view: 'session', sessionId, threadId: threadId ?? undefined, eventId: threadPage.selectedId });
  const link = `${location.origin}${location.pathname}${hash}`;
  const written = navigator.clipboard?.writeText(link) ?? Promise.reject(new Error('no clipboard'));
  inBackground(
    written.then(
      () => ui.notify('Link copied.'),
      () => ui.notify(link),
    ),
  );
}
