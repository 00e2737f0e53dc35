import { fleet } from '../stores/stores.ts';
import { formatClock, formatCost, formatCount, formatSpan, plural } from '../model/format.ts';
import type { TimeSpan } from '../ui/lanes/time-span.ts';
import { totalsOf } from './window-totals.ts';

/** Totals of the time range selected on the lanes. */
export function WindowTotals({ span, left, onClose }: { span: TimeSpan; left: number; onClose: () => void }) {
  // In a replay, later events have not happened yet.
  const totals = totalsOf(fleet.rows(), { from: span.from, to: Math.min(span.to, fleet.now()) });
  return (
    <div className="tip window-totals" style={{ transform: `translate(${left + 8}px, 8px)` }}>
      <b>
        {formatClock(span.from)} – {formatClock(span.to)} · {formatSpan(span.to - span.from)}
      </b>
      <span>
        {formatCost(totals.costUsd)} · {formatCount(totals.tokens)} tokens · {plural(totals.requests, 'request')}
      </span>
      <span>
        {plural(totals.tools, 'tool call')} · {plural(totals.errors, 'failure')}
      </span>
      <span className="quiet">you were the bottleneck for {formatSpan(totals.waitedMs)}</span>
      <button type="button" tabIndex={-1} onClick={onClose}>
        close
      </button>
    </div>
  );
}
