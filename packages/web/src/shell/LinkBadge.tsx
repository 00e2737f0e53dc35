import { formatClock, formatDuration, formatNumber, plural } from '../model/format.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet } from '../stores/stores.ts';
import { uiLimits } from '../ui/limits.ts';
import { useTick } from '../ui/use-tick.ts';

/** The state of the page: `● live · seq 48,213 · lag 40 ms · 0 gaps`, or why the page does not show the present. */
export function LinkBadge() {
  useSignal(fleet.linkChanged);
  useSignal(fleet.replay.changed);
  useTick(uiLimits.headerMs);
  const { link, model, lagMs } = fleet;
  const { reconnects, caughtUp, tabs, problem } = link;
  const state = toState();
  const isLive = state === 'live';
  const gaps = model.gapCount;
  const title = [
    problem,
    `${tabs} tab${tabs === 1 ? '' : 's'} on one connection`,
    plural(reconnects, 'reconnect'),
  ].filter(Boolean);
  return (
    <output className="link" data-link={state} title={title.join('\n')}>
      <b aria-hidden="true">{GLYPHS[state]}</b> {NAMES[state]}
      {state === 'replay' && ` at ${formatClock(fleet.replay.time ?? 0)}`}
      {(state === 'reconnecting' || state === 'over') &&
        silence().map((part, index) => (
          <span key={index} className="silence">
            {' '}
            · {part}
          </span>
        ))}
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

type ShownLink = 'connecting' | 'loading' | 'live' | 'reconnecting' | 'signed_out' | 'over' | 'replay';

const NAMES: Readonly<Record<ShownLink, string>> = {
  connecting: 'connecting',
  loading: 'loading',
  live: 'live',
  reconnecting: 'reconnecting',
  signed_out: 'signed out',
  over: 'not connected',
  replay: 'replay',
};

const GLYPHS: Readonly<Record<ShownLink, string>> = {
  connecting: '◌',
  loading: '◌',
  live: '●',
  reconnecting: '◌',
  signed_out: '◌',
  over: '◌',
  replay: '◷',
};

/** The shown state: live when the connection is open and the list of sessions is loaded. */
function toState(): ShownLink {
  if (fleet.replay.isOn) return 'replay';
  const { type } = fleet.link;
  return type === 'live' && !fleet.isListed ? 'loading' : type;
}

/** How long ago the last byte arrived, and when the next attempt to connect is. */
function silence(): readonly string[] {
  const { lastByteAt, nextTryAt } = fleet.link;
  const now = Date.now();
  const age = lastByteAt === null ? 'nothing received yet' : `last byte ${formatDuration(now - lastByteAt)} ago`;
  return nextTryAt === null ? [age] : [age, `next try in ${Math.max(0, Math.ceil((nextTryAt - now) / 1_000))} s`];
}
