import { interruptRow, openThread } from '../stores/actions.ts';
import { decisions } from '../stores/decisions.ts';
import { inbox } from '../stores/inbox-store.ts';
import { ui } from '../stores/stores.ts';
import { needsDecision } from '../model/inbox-items.ts';
import type { ShownRow } from '../model/summary.ts';
import type { KeyMap } from '../ui/page.ts';
import { approve } from './answer.ts';

/** Keys of the inbox. */
export const inboxKeys: KeyMap = {
  j: () => inbox.move(1),
  k: () => inbox.move(-1),
  ArrowDown: () => inbox.move(1),
  ArrowUp: () => inbox.move(-1),
  a: () => {
    if (inbox.checked.size > 0) return inbox.setMode('batch');
    const item = inbox.selected();
    if (item !== undefined) approve(item);
  },
  d: () => setModeOf('approval', 'deny'),
  A: () => setModeOf('approval', 'rule'),
  w: () => setModeOf('approval', 'always'),
  r: () => {
    const field = document.querySelector<HTMLInputElement>('.questions input');
    if (field === null) setModeOf('answer', 'answer');
    else field.focus();
  },
  ' ': () => {
    const item = inbox.selected();
    if (item?.kind === 'approval') inbox.toggleChecked(item.id);
  },
  z: () => decisions.undo(),
  e: () => {
    const item = inbox.selected();
    if (item?.kind === 'approval') inbox.setMode('edit');
    else if (item !== undefined && !needsDecision(item)) inbox.dismiss(item.id);
  },
  x: () => withSelected((row) => interruptRow(row, false)),
  Enter: () => withSelected(openThread),
  Escape: () => (inbox.mode === 'read' ? ui.back() : inbox.setMode('read')),
};

function withSelected(act: (row: ShownRow) => void): void {
  const row = inbox.selected()?.row;
  if (row !== undefined) act(row);
}

/** Sets the mode if the selected item is of the kind that has it. */
function setModeOf(kind: 'approval' | 'answer', mode: 'deny' | 'rule' | 'always' | 'answer'): void {
  if (inbox.selected()?.kind === kind) inbox.setMode(mode);
}
