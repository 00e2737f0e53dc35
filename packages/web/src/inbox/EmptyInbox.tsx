import { fleet } from '../app/stores.ts';
import { dayLine, summarizeDay } from '../model/day-summary.ts';
import { formatDuration } from '../model/format.ts';

/** That nothing waits is news too. */
export function EmptyInbox() {
  const now = fleet.now();
  const day = summarizeDay(fleet.shown(), now);
  return (
    <section className="nothing" aria-label="Inbox">
      <p className="nothing-glyph" aria-hidden="true">
        ✓
      </p>
      <h1>Nothing needs you.</h1>
      <p className="day-line">{dayLine(day, now)}</p>
      {day.waitedMs >= 1_000 && (
        <p className="quiet">You were the bottleneck for {formatDuration(day.waitedMs)} today.</p>
      )}
      <p className="quiet">
        When an agent asks whether it may do something, it stands here with everything that it wants to do. <kbd>a</kbd>{' '}
        approves, <kbd>d</kbd> denies with a word why.
      </p>
      <p>
        <a href="#/agents">Rules: which calls of which agent ask</a>
      </p>
    </section>
  );
}
