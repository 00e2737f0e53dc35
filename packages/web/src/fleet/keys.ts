import { interruptRow, openThread, writeTo } from '../stores/actions.ts';
import { toRowKey } from '../stores/row-key.ts';
import { selectedRow } from '../stores/selected-row.ts';
import { fleet, ui } from '../stores/stores.ts';
import type { ShownRow } from '../model/summary.ts';
import type { KeyMap } from '../ui/page.ts';

/** Keys of the fleet page. */
export const fleetKeys: KeyMap = {
  j: () => moveSelection(1),
  k: () => moveSelection(-1),
  ArrowDown: () => moveSelection(1),
  ArrowUp: () => moveSelection(-1),
  Enter: () => withSelected(openThread),
  ArrowLeft: () => setCollapsed(true),
  ArrowRight: () => setCollapsed(false),
  s: () => withSelected(writeTo),
  x: () => withSelected((row) => interruptRow(row, false)),
  X: () => withSelected((row) => interruptRow(row, true)),
  o: () => ui.set({ sort: ui.sort === 'tree' ? 'attention' : 'tree' }),
  '/': () => document.querySelector<HTMLInputElement>('#search')?.focus(),
  End: () => ui.set({ windowEnd: undefined }),
  Escape: () => ui.set({ group: undefined, query: '', marked: undefined }),
};

function withSelected(act: (row: ShownRow) => void): void {
  const row = selectedRow();
  if (row !== undefined) act(row);
}

/** Selects the row below or above, in the order on the screen, and scrolls to it. */
function moveSelection(by: 1 | -1): void {
  const keys = [...document.querySelectorAll<HTMLElement>('.rows-space > .row')]
    .toSorted((left, right) => left.getBoundingClientRect().top - right.getBoundingClientRect().top)
    .map(({ dataset }) => dataset['key']);
  const index = keys.indexOf(ui.selectedKey);
  const key = keys[index === -1 ? 0 : Math.max(0, Math.min(keys.length - 1, index + by))];
  ui.set({ selectedKey: key });
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>('.row[aria-selected=true]');
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  });
}

function setCollapsed(isCollapsed: boolean): void {
  const row = selectedRow();
  if (row !== undefined) return ui.toggleCollapsed(toRowKey(row.sessionId, row.key), isCollapsed);
  if (ui.selectedKey === undefined) return;
  ui.setSessionOpen(ui.selectedKey, !isCollapsed);
  if (!isCollapsed) fleet.load(ui.selectedKey);
}
