import { formatClock } from '../model/format.ts';
import { useSignal } from './signal.ts';
import { fleet } from './stores.ts';

/** As long as an earlier moment is shown, nobody can take it for the present. */
export function ReplayBar() {
  useSignal(fleet.replay.changed);
  const { replay } = fleet;
  if (!replay.isOn) return null;
  return (
    <div className="replay-bar" role="status">
      <b>REPLAY {formatClock(replay.time ?? 0)}</b>
      <span>{replay.session?.record?.title ?? replay.session?.id}</span>
      <button type="button" onClick={() => replay.toLive()}>
        back to live <kbd>.</kbd>
      </button>
    </div>
  );
}
