import { fleet } from '../app/stores.ts';
import { formatClock, formatCost, formatSpan, plural } from '../model/format.ts';
import type { TimeSpan } from './lane-view.ts';
import { totalsOf } from './window-totals.ts';

/** What happened in a time that was marked on the lanes. */
export function WindowTotals({ span, left, onClose }: { span: TimeSpan; left: number; onClose: () => void }) {
  const totals = totalsOf(fleet.rows(), span);
  return (
    <div className="tip window-totals" style={{ transform: `translate(${left + 8}px, 8px)` }}>
      <b>
        {formatClock(span.from)} – {formatClock(span.to)} · {formatSpan(span.to - span.from)}
      </b>
      <span>
        {formatCost(totals.costUsd)} · {plural(totals.requests, 'request')} · {plural(totals.tools, 'tool call')}
      </span>
      <span>
        {plural(totals.errors, 'failure')} · you were waited for {formatSpan(totals.waitedMs)}
      </span>
      <button type="button" tabIndex={-1} onClick={onClose}>
        close
      </button>
    </div>
  );
}
