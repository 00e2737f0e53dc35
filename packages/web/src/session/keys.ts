import { goLive, interruptRow, writeTo } from '../stores/actions.ts';
import { fleet, ui } from '../stores/stores.ts';
import type { SessionModel } from '../model/session-model.ts';
import type { ShownRow } from '../model/summary.ts';
import type { KeyMap } from '../ui/page.ts';
import { playOrOpen, stepOrOpen } from './replay/replay-actions.ts';
import { changesPage } from './changes/changes-page.ts';
import { hasWorkspace } from '../model/has-workspace.ts';
import { copyLink, exportSession, forkSession, toggleBeside } from './session-commands.ts';
import { threadPage } from './transcript/thread-page.ts';

/** Keys of the session page. */
export const sessionKeys: KeyMap = {
  j: () => (isChanges() ? changesPage : threadPage).move(1),
  k: () => (isChanges() ? changesPage : threadPage).move(-1),
  d: () => withThread(toggleChanges),
  u: () => changesPage.set({ isSideBySide: !changesPage.isSideBySide }),
  a: () => document.querySelector<HTMLButtonElement>('.changes-toolbar .primary')?.click(),
  Enter: () => document.querySelector<HTMLButtonElement>('.block[data-selected=true] .fold-line')?.click(),
  i: () => threadPage.toggleInspector(),
  s: () => withThread(writeTo),
  x: () => withThread((row) => interruptRow(row, false)),
  X: () => withThread((row) => interruptRow(row, true)),
  '.': () => {
    goLive();
    threadPage.followLive();
  },
  ' ': () => withSession(playOrOpen),
  '[': () => withSession((session) => stepOrOpen(session, -1)),
  ']': () => withSession((session) => stepOrOpen(session, 1)),
  '{': () => withSession((session) => stepOrOpen(session, -1, 'turn')),
  '}': () => withSession((session) => stepOrOpen(session, 1, 'turn')),
  y: () => withThread(copyLink),
  e: () => withThread(exportSession),
  f: () => withThread(forkSession),
  '|': () => withThread((row) => toggleBeside(row, false)),
  C: () => withThread((row) => toggleBeside(row, true)),
  '/': () => withThread(({ sessionId }) => ui.set({ dialog: { type: 'find', sessionId } })),
  // On the Changes tab, Escape closes dialogs and leaves fields; a second press must not leave the page.
  Escape: () => threadPage.closeTree() || isChanges() || ui.back(),
};

function isChanges(): boolean {
  return ui.route.tab === 'changes';
}

/** Switches between the changes of the session and the transcript. */
function toggleChanges({ session, sessionId, threadId }: ShownRow): void {
  if (!isChanges() && !hasWorkspace(session)) return ui.notify('This session has no directory or repository.');
  ui.go({ view: 'session', sessionId, threadId: threadId ?? undefined, tab: isChanges() ? undefined : 'changes' });
}

function withThread(act: (row: ShownRow) => void): void {
  if (threadPage.row !== undefined) act(threadPage.row);
}

/** Calls `act` with the live session: in a replay, the row belongs to the session at an earlier time. */
function withSession(act: (session: SessionModel) => void): void {
  withThread(({ session }) => act(fleet.model.sessions.get(session.id)?.model ?? session));
}
