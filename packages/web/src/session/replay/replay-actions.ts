import type { SessionModel } from '../../model/session-model.ts';
import { fleet, ui } from '../../stores/stores.ts';
import type { TimeSpan } from '../../ui/lanes/time-span.ts';

/** Plays or pauses; from live, it opens the replay at the beginning of the session. */
export function playOrOpen(session: SessionModel): void {
  const { replay } = fleet;
  if (replay.isPlaying) return replay.pause();
  if (replay.isOn) return replay.play();
  ui.attempt(replay.open(session, spanOf(session).from).then(() => replay.play()));
}

/** Steps to the next or previous event or turn; from live, one step back is the moment before the last event. */
export function stepOrOpen(session: SessionModel, direction: 1 | -1, by: 'event' | 'turn' = 'event'): void {
  const { replay } = fleet;
  if (replay.isOn) return replay.step(by, direction);
  if (direction === 1) return;
  ui.attempt(replay.open(session, spanOf(session).to).then(() => replay.step(by, -1)));
}

/** The time that the scrubber covers: the whole session, at least one second. */
export function spanOf(session: SessionModel): TimeSpan {
  const from = session.firstAt ?? 0;
  return { from, to: Math.max(from + 1_000, session.slots.lastAt ?? from) };
}
