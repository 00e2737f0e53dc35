import { cutText, toLabel as inputLabel } from '@fleetloom/protocol/fleet';
import { useEffect, useRef, useState } from 'react';
import type { InboxItem } from '../model/inbox-items.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, ui } from '../stores/stores.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import type { Page } from '../ui/page.ts';
import { announceWaitMs, notices } from '../stores/notices/notices.ts';

/** Reports how many items need the user: in the title and icon of the tab, on the desktop, and to screen readers at intervals. */
export function Announcer({ page }: { page: Page }) {
  useSignal(fleet.changed);
  const items = fleet.pendingItems();
  const count = items.length;
  const { isListed } = fleet;
  useEffect(() => notifyDesktop(items));
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${page.name} · Fleetloom`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    icon?.setAttribute('href', count > 0 ? './favicon-needs.svg' : './favicon.svg');
  }, [count, page]);
  const [announcement, setAnnouncement] = useState('');
  const lastAt = useRef(0);
  useEffect(() => {
    // Nothing is announced before the sessions are loaded.
    if (!isListed) return;
    const text = count === 0 ? 'Nothing needs you' : `${count} need${count === 1 ? 's' : ''} you`;
    const wait = announceWaitMs(lastAt.current, Date.now());
    const timer = setTimeout(() => {
      lastAt.current = Date.now();
      setAnnouncement(text);
    }, wait);
    return () => clearTimeout(timer);
  }, [count, isListed]);
  return (
    <div className="hidden-text" aria-live="polite">
      {announcement}
    </div>
  );
}

/** All tabs use the same notification tag, so that the desktop shows one notification and not one per tab. */
function notifyDesktop(items: readonly InboxItem[]): void {
  const fresh = new Set(notices.take(items, new Date(), document.hasFocus()));
  const [first] = items.filter(({ id }) => fresh.has(id));
  if (first === undefined || typeof Notification === 'undefined' || Notification.permission !== 'granted') return;
  const title = items.length === 1 ? `${first.path.at(-1)} needs you` : `${items.length} agents need you`;
  const body = cutText(cleanLine(`${first.path.join(' › ')}: ${first.tool} ${inputLabel(first.input)}`), 200);
  const notification = new Notification(cleanLine(title), { body, tag: 'fleetloom', icon: './favicon-needs.svg' });
  notification.addEventListener('click', () => {
    focus();
    ui.go({ view: 'inbox' });
    notification.close();
  });
}
