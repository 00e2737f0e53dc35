import { cutText } from '@fleetloom/protocol/fleet';
import { useEffect, useRef, useState } from 'react';
import { inputLabel } from '../model/input-label.ts';
import type { InboxItem } from '../model/inbox-items.ts';
import { cleanLine } from '../text/clean-text.ts';
import { announceWaitMs, notices } from './notices.ts';
import { useSignal } from './signal.ts';
import { fleet, ui } from './stores.ts';

/** Says how many need somebody: to screen readers politely and not often, and in the title of the tab. */
export function Announcer() {
  useSignal(fleet.changed);
  const items = fleet.asksNow();
  const asks = items.length;
  useEffect(() => tellDesktop(items));
  const [said, say] = useState('');
  const lastAt = useRef(0);
  useEffect(() => {
    document.title = `${asks > 0 ? `(${asks}) ` : ''}Fleetloom`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    icon?.setAttribute('href', asks > 0 ? './favicon-needs.svg' : './favicon.svg');
    const text = asks === 0 ? 'Nothing needs you' : `${asks} need${asks === 1 ? 's' : ''} you`;
    const wait = announceWaitMs(lastAt.current, Date.now());
    const timer = setTimeout(() => {
      lastAt.current = Date.now();
      say(text);
    }, wait);
    return () => clearTimeout(timer);
  }, [asks]);
  return (
    <div className="hidden-text" aria-live="polite">
      {said}
    </div>
  );
}

/** All tabs tell the same under one name, so that the desktop shows it once. */
function tellDesktop(items: readonly InboxItem[]): void {
  const fresh = new Set(notices.take(items, new Date(), document.hasFocus()));
  const [first] = items.filter(({ id }) => fresh.has(id));
  if (first === undefined || typeof Notification === 'undefined' || Notification.permission !== 'granted') return;
  const title = items.length === 1 ? `${first.path.at(-1)} needs you` : `${items.length} agents need you`;
  const body = cutText(cleanLine(`${first.path.join(' › ')}: ${first.tool} ${inputLabel(first.input)}`), 200);
  const shown = new Notification(cleanLine(title), { body, tag: 'fleetloom', icon: './favicon-needs.svg' });
  shown.addEventListener('click', () => {
    focus();
    ui.go({ view: 'inbox' });
    shown.close();
  });
}
