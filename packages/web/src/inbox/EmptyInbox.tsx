import { fleet } from '../stores/stores.ts';
import { dayLine, summarizeDay } from '../model/day-summary.ts';
import { formatDuration } from '../model/format.ts';

/** The inbox without items: a summary of the day. */
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
        Tool calls that need your approval appear here with their full input. <kbd>a</kbd> approves, <kbd>d</kbd> denies
        with a reason.
      </p>
      <p>
        <a href="#/agents">Which tool calls need approval</a>
      </p>
    </section>
  );
}
