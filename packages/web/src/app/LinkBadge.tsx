import { useEffect, useState } from 'react';
import { limits } from '../limits.ts';
import { formatNumber } from '../model/format.ts';
import { useSignal } from './signal.ts';
import { fleet } from './stores.ts';

/** `● live · seq 48,213 · lag 40 ms · 0 gaps`: whether what is on the screen is true. */
export function LinkBadge() {
  useSignal(fleet.linkChanged);
  useTick(limits.headerMs);
  const { link, model, lagMs } = fleet;
  const { type, reconnects, caughtUp, nextTryAt, tabs, problem } = link;
  const isLive = type === 'live';
  const gaps = model.gapCount;
  const wait = nextTryAt === null ? '' : ` · next try in ${Math.max(0, Math.ceil((nextTryAt - Date.now()) / 1_000))} s`;
  const words = {
    connecting: 'connecting',
    live: 'live',
    reconnecting: 'reconnecting',
    signed_out: 'signed out',
    over: 'not connected',
  };
  const title = [problem, `${tabs} tab${tabs === 1 ? '' : 's'} on one connection`, `${reconnects} reconnects`].filter(
    Boolean,
  );
  return (
    <output className="link" data-link={type} title={title.join('\n')}>
      <b aria-hidden="true">{isLive ? '●' : '◌'}</b> {words[type]}
      {isLive ? null : wait}
      <span> · seq {formatNumber(model.seq)}</span>
      {isLive && <span className="wide"> · lag {lagMs < 5_000 ? `${formatNumber(Math.round(lagMs))} ms` : '–'}</span>}
      <span data-bad={gaps > 0}>
        {' '}
        · {gaps} gap{gaps === 1 ? '' : 's'}
      </span>
      {reconnects > 0 && isLive && <span className="wide"> · caught up {formatNumber(caughtUp)}</span>}
    </output>
  );
}

/** Draws again so often, whatever else changes. */
export function useTick(ms: number): void {
  const [, set] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => set((count) => count + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
}
