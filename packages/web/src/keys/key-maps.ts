import { interruptRow, openThread, writeTo } from '../app/actions.ts';
import { fleet, ui } from '../app/stores.ts';
import { toKey } from '../fleet/table-rows.ts';
import { approve } from '../inbox/answer.ts';
import { decisions } from '../inbox/decisions.ts';
import { inbox } from '../inbox/inbox-state.ts';
import { isAsk } from '../model/inbox-items.ts';
import type { ShownRow } from '../model/summary.ts';
import { placeOf } from '../thread/Beside.tsx';
import { playOrOpen, stepOrOpen } from '../thread/Scrubber.tsx';
import { threadPage } from '../thread/thread-page.ts';

export type KeyMap = Readonly<Record<string, (() => void) | undefined>>;

export const everywhere: KeyMap = {
  'g f': () => ui.go({ view: 'fleet' }),
  'g i': () => goToInbox(),
  'g t': () => {
    const row = selectedRow() ?? fleet.rows()[0];
    if (row === undefined) ui.go({ view: 'thread' });
    else openThread(row);
  },
  'g a': () => ui.go({ view: 'agents' }),
  '?': () => ui.set({ dialog: { type: 'help' } }),
  '/': () => {
    if (ui.route.view !== 'fleet') ui.go({ view: 'fleet' });
    requestAnimationFrame(() => document.querySelector<HTMLInputElement>('#search')?.focus());
  },
  '.': () => {
    if (fleet.replay.isOn) fleet.replay.toLive();
    ui.set({ windowEnd: undefined });
    if (ui.route.view === 'thread') threadPage.followLive();
  },
  n: () => nextAsk(1),
  N: () => nextAsk(-1),
};

export const fleetKeys: KeyMap = {
  j: () => moveRow(1),
  k: () => moveRow(-1),
  ArrowDown: () => moveRow(1),
  ArrowUp: () => moveRow(-1),
  Enter: () => withRow(openThread),
  ArrowLeft: () => fold(true),
  ArrowRight: () => fold(false),
  s: () => withRow(writeTo),
  x: () => withRow((row) => interruptRow(row, false)),
  X: () => withRow((row) => interruptRow(row, true)),
  o: () => ui.set({ sort: ui.sort === 'tree' ? 'attention' : 'tree' }),
  End: () => ui.set({ windowEnd: undefined }),
  Escape: () => ui.set({ group: undefined, query: '', marked: undefined }),
};

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
  d: () => withAsk('approval', 'deny'),
  A: () => withAsk('approval', 'alike'),
  r: () => {
    const field = document.querySelector<HTMLInputElement>('.questions input');
    if (field === null) withAsk('answer', 'answer');
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
    else if (item !== undefined && !isAsk(item)) inbox.dismiss(item.id);
  },
  x: () => {
    const row = inbox.selected()?.row;
    if (row !== undefined) interruptRow(row, false);
  },
  Enter: () => {
    const row = inbox.selected()?.row;
    if (row !== undefined) openThread(row);
  },
  Escape: () => (inbox.mode === 'read' ? ui.go({ view: 'fleet' }) : inbox.setMode('read')),
};

export const threadKeys: KeyMap = {
  j: () => threadPage.move(1),
  k: () => threadPage.move(-1),
  i: () => threadPage.toggleInspector(),
  s: () => withThread(writeTo),
  x: () => withThread((row) => interruptRow(row, false)),
  X: () => withThread((row) => interruptRow(row, true)),
  ' ': () => withThread(({ session }) => playOrOpen(liveOf(session.id) ?? session)),
  '[': () => withThread(({ session }) => stepOrOpen(liveOf(session.id) ?? session, -1)),
  ']': () => withThread(({ session }) => stepOrOpen(liveOf(session.id) ?? session, 1)),
  '{': () => withThread(({ session }) => stepOrOpen(liveOf(session.id) ?? session, -1, 'turn')),
  '}': () => withThread(({ session }) => stepOrOpen(liveOf(session.id) ?? session, 1, 'turn')),
  y: () => withThread((row) => void copyLink(row)),
  e: () => withThread(({ sessionId }) => ui.set({ dialog: { type: 'export', sessionId } })),
  f: () => withThread(({ sessionId }) => ui.set({ dialog: { type: 'again', sessionId } })),
  '|': () => withThread((row) => split(row, false)),
  c: () => withThread((row) => split(row, true)),
  '/': () => withThread(({ sessionId }) => ui.set({ dialog: { type: 'find', sessionId } })),
  Escape: () => ui.go({ view: 'fleet' }),
};

export const agentKeys: KeyMap = {
  Escape: () => ui.go({ view: 'fleet' }),
};

function selectedRow(): ShownRow | undefined {
  return fleet.rows().find((row) => toKey(row.sessionId, row.key) === ui.selectedKey);
}

function withRow(act: (row: ShownRow) => void): void {
  const row = selectedRow();
  if (row !== undefined) act(row);
}

function withThread(act: (row: ShownRow) => void): void {
  if (threadPage.row !== undefined) act(threadPage.row);
}

/** Shows the next thread of the tree beside this one, or puts it away. Comparing is the same with both side by side. */
function split(row: ShownRow, isCompared: boolean): void {
  const { route } = ui;
  if (route.beside !== undefined && (!isCompared || route.isCompared === true))
    return ui.go({ ...route, beside: isCompared ? route.beside : undefined, isCompared: false });
  const rows = fleet.rows().filter(({ sessionId, threadId }) => sessionId === row.sessionId && threadId !== null);
  const at = rows.findIndex(({ key }) => key === row.key);
  const beside = route.beside ?? placeOf(rows[(at + 1) % rows.length] ?? row);
  ui.go({ view: 'thread', sessionId: row.sessionId, threadId: row.threadId ?? undefined, beside, isCompared });
}

function liveOf(sessionId: string) {
  return fleet.model.sessions.get(sessionId)?.model;
}

function withAsk(kind: 'approval' | 'answer', mode: 'deny' | 'alike' | 'answer'): void {
  if (inbox.selected()?.kind === kind) inbox.setMode(mode);
}

/** To the row below or above, as they stand on the screen, and into sight. */
function moveRow(by: 1 | -1): void {
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

function fold(isFolded: boolean): void {
  const row = selectedRow();
  if (row !== undefined) return ui.toggleCollapsed(toKey(row.sessionId, row.key), isFolded);
  if (ui.selectedKey === undefined) return;
  const [now, before] = isFolded ? ['shut', 'open'] : ['open', 'shut'];
  ui.collapsed.delete(`${before} ${ui.selectedKey}`);
  ui.toggleCollapsed(`${now} ${ui.selectedKey}`, true);
  if (!isFolded) fleet.load(ui.selectedKey);
}

function goToInbox(): void {
  inbox.sort();
  ui.go({ view: 'inbox' });
}

/** Wherever one is: to the next that needs somebody. */
function nextAsk(by: 1 | -1): void {
  const asks = inbox.items().filter(isAsk);
  if (asks.length === 0) return ui.say('Nothing needs you.');
  const index = asks.findIndex(({ id }) => id === inbox.selectedId);
  const next = asks[(index + by + asks.length) % asks.length];
  ui.go({ view: 'inbox' });
  inbox.select(next?.id);
}

async function copyLink({ sessionId, threadId }: ShownRow): Promise<void> {
  const event = threadPage.selectedId === undefined ? '' : `?event=${threadPage.selectedId}`;
  const link = `${location.origin}${location.pathname}#/thread/${sessionId}/${threadId}${event}`;
  await navigator.clipboard.writeText(link).then(
    () => ui.say('The link is copied.'),
    () => ui.say(link),
  );
}
