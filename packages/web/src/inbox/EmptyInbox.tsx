import { fleet } from '../app/stores.ts';
import { totalsOf } from '../fleet/window-totals.ts';
import { formatDuration } from '../model/format.ts';

/** That nothing waits is news too. */
export function EmptyInbox() {
  const { counts } = fleet.summary();
  const now = fleet.now();
  const { waitedMs } = totalsOf(fleet.rows(), { from: now - DAY_MS, to: now });
  const decided = fleet
    .shown()
    .flatMap(({ slots }) => slots.runs.flatMap(({ approvals }) => approvals))
    .filter(({ resolvedAt }) => resolvedAt !== null && resolvedAt > now - DAY_MS);
  const longest = Math.max(0, ...decided.map(({ resolvedAt, askedAt }) => resolvedAt! - (askedAt ?? resolvedAt!)));
  const lastAt = Math.max(0, ...decided.map(({ resolvedAt }) => resolvedAt!));
  return (
    <section className="nothing" aria-label="Inbox">
      <p className="nothing-glyph" aria-hidden="true">
        ✓
      </p>
      <h1>Nothing needs you.</h1>
      <p className="quiet">
        {counts.running} running · {counts.done} done
        {decided.length > 0 &&
          ` · longest wait today ${formatDuration(longest)} · last decision ${formatDuration(now - lastAt)} ago`}
        {waitedMs > 0 && ` · you were the bottleneck for ${formatDuration(waitedMs)} today`}
      </p>
      <p className="quiet">
        When an agent asks whether it may do something, it stands here with everything that it wants to do. <kbd>a</kbd>{' '}
        approves, <kbd>d</kbd> denies with a word why. Which calls ask is part of an agent: its permission policies.
      </p>
    </section>
  );
}

const DAY_MS = 86_400_000;
