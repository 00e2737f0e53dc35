import { goLive } from '../stores/actions.ts';
import { inbox } from '../stores/inbox-store.ts';
import { ui } from '../stores/stores.ts';
import { needsDecision } from '../model/inbox-items.ts';
import { withCommandKey } from '../ui/command-key.ts';
import type { KeyHelp, KeyMap } from '../ui/page.ts';
import { openPage, pages } from './pages.ts';

/** Keys that work on every page, unless the page has its own action for one of them. */
export const shellKeys: KeyMap = {
  ...Object.fromEntries(pages.map((page) => [`g ${page.shortcut}`, () => openPage(page)])),
  '?': () => ui.set({ dialog: { type: 'help' } }),
  c: () => ui.set({ dialog: { type: 'new_session' } }),
  '/': () => {
    ui.go({ view: 'sessions' });
    requestAnimationFrame(() => document.querySelector<HTMLInputElement>('#search')?.focus());
  },
  '.': goLive,
  n: () => selectNextPending(1),
  N: () => selectNextPending(-1),
};

/** The help for the keys that work on every page. */
export const shellHelp: readonly KeyHelp[] = [
  ...pages.map(({ shortcut, name }): KeyHelp => [`g ${shortcut}`, name.toLowerCase()]),
  [withCommandKey('K'), 'command palette'],
  ['c', 'new session'],
  ['/', 'search sessions'],
  ['n  N', 'next or previous item that needs you'],
  ['.', 'back to live, and follow'],
  ['?', 'this help'],
];

/** Opens the inbox at the next item that waits for a person. */
function selectNextPending(by: 1 | -1): void {
  const pending = inbox.items().filter(needsDecision);
  if (pending.length === 0) return ui.notify('Nothing needs you.');
  const index = pending.findIndex(({ id }) => id === inbox.selectedId);
  const next = pending[(index + by + pending.length) % pending.length];
  ui.go({ view: 'inbox' });
  inbox.select(next?.id);
}
