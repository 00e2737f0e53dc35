import { useEffect, useRef, useState } from 'react';
import { limits } from '../limits.ts';
import { isAsk } from '../model/inbox-items.ts';
import { useSignal } from './signal.ts';
import { fleet } from './stores.ts';

/** Says how many need somebody: to screen readers politely and not often, and in the title of the tab. */
export function Announcer() {
  useSignal(fleet.changed);
  const asks = fleet.inbox().filter(isAsk).length;
  const [said, say] = useState('');
  const lastAt = useRef(0);
  useEffect(() => {
    document.title = `${asks > 0 ? `(${asks}) ` : ''}Fleetloom`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    icon?.setAttribute('href', asks > 0 ? './favicon-needs.svg' : './favicon.svg');
    const text = asks === 0 ? 'Nothing needs you' : `${asks} need${asks === 1 ? 's' : ''} you`;
    const wait = Math.max(0, lastAt.current + limits.announceMs - Date.now());
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
