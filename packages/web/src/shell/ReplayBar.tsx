import { nameOfSession } from '../model/name-of-session.ts';
import { formatClock } from '../model/format.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet } from '../stores/stores.ts';

/** A bar that is shown during a replay, so that the past is not mistaken for the present. */
export function ReplayBar() {
  useSignal(fleet.replay.changed);
  const { replay } = fleet;
  if (!replay.isOn) return null;
  return (
    <div className="replay-bar" role="status">
      <b>REPLAY {formatClock(replay.time ?? 0)}</b>
      <span>{replay.session !== undefined && nameOfSession(replay.session)}</span>
      <button type="button" onClick={() => replay.toLive()}>
        back to live <kbd>.</kbd>
      </button>
    </div>
  );
}
