import { type FleetSessionState, sessionStates } from '@fleetloom/protocol/fleet';
import { formatNumber } from '../model/format.ts';
import { sessionGlyphs } from '../model/session-cells.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, sessionCounts } from '../stores/stores.ts';

const shown: readonly FleetSessionState[] = ['needs_you', 'running', 'stalled', 'failed'];

/** The server's counts of sessions by state, each a link to these sessions. Hidden in a replay, because the counts are of the present. */
export function StateCounts() {
  useSignal(sessionCounts.changed);
  useSignal(fleet.replay.changed);
  const { value } = sessionCounts;
  if (fleet.replay.isOn) return null;
  return (
    <ul className="state-counts" aria-label="Sessions by state" aria-busy={value === undefined}>
      {shown.map((state) => (
        <li key={state}>
          <a
            href={`#/sessions?status=${state}`}
            data-ink={value?.[state] === 0 ? undefined : sessionGlyphs[state].ink}
            title={`Sessions: ${sessionStates[state].label}`}
          >
            <i aria-hidden="true">{sessionGlyphs[state].glyph}</i>{' '}
            <b>{value === undefined ? '…' : formatNumber(value[state])}</b> <span>{sessionStates[state].label}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
