import type { ShownSession } from '../app/fleet-store.ts';
import { fleet, ui } from '../app/stores.ts';
import { formatClock, formatCost, formatCount, plural } from '../model/format.ts';
import { tokensOf } from '../model/thread-rows.ts';
import { cleanLine } from '../text/clean-text.ts';
import type { RowPlace } from './FleetRow.tsx';
import { ROW_HEIGHT } from './paint-lanes.ts';

/** The head of a session: what it is, how it is, and what can be done with all of it. */
export function SessionRow({
  rowKey,
  place,
  isSelected,
  isTabStop,
  shown,
  isOpen,
}: RowPlace & { shown: ShownSession; isOpen: boolean }) {
  const { session, slots, rows, isLoading } = shown;
  const run = slots.runs.at(-1);
  const isRunning = run?.state === 'running';
  const title = session.record?.title ?? run?.message ?? session.id;
  const fold = () => {
    ui.collapsed.delete(`open ${session.id}`);
    ui.collapsed.delete(`shut ${session.id}`);
    ui.toggleCollapsed(`${isOpen ? 'shut' : 'open'} ${session.id}`, true);
    if (!isOpen) fleet.load(session.id);
  };
  return (
    <div
      className="row session-row"
      role="row"
      aria-rowindex={place + 2}
      aria-level={1}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      tabIndex={isTabStop ? 0 : -1}
      data-key={rowKey}
      style={{ transform: `translateY(${place * ROW_HEIGHT}px)` }}
      onClick={() => ui.set({ selectedKey: rowKey })}
    >
      <div role="gridcell" className="session-cell">
        <button type="button" className="fold" tabIndex={-1} aria-label={isOpen ? 'Fold' : 'Unfold'} onClick={fold}>
          {isOpen ? '▾' : '▸'}
        </button>
        <b title={title}>{cleanLine(title)}</b>
        <span className="quiet">{isLoading ? 'reading …' : factsOf(shown)}</span>
        <span className="session-actions">
          <button
            type="button"
            tabIndex={-1}
            onClick={() =>
              ui.set({
                dialog: {
                  type: 'message',
                  sessionId: session.id,
                  threadId: null,
                  agent: rows[0]?.agent ?? 'the session',
                },
              })
            }
          >
            Message
          </button>
          {isRunning && (
            <button
              type="button"
              tabIndex={-1}
              onClick={() =>
                ui.set({ dialog: { type: 'interrupt', sessionId: session.id, threadIds: [], what: `all of ${title}` } })
              }
            >
              Interrupt all
            </button>
          )}
        </span>
      </div>
    </div>
  );
}

/** From its log; where that was not read, from what the server lists. */
function factsOf({ session, slots, rows }: ShownSession): string {
  const { record, firstAt } = session;
  if (firstAt === null) {
    if (record === undefined) return '';
    const { input_tokens: input, output_tokens: output } = record.usage;
    return `${record.status} · ${new Date(record.created_at).toLocaleString()} · ${formatCount(input + output)} tokens`;
  }
  const { usage } = slots.totals;
  const state = slots.runs.at(-1)?.state === 'running' ? 'running' : (record?.status ?? 'idle');
  const cost = `${usage.requestsWithoutCost > 0 ? '≥ ' : ''}${formatCost(usage.costUsd)}`;
  const tokens = `${formatCount(tokensOf(usage))} tokens`;
  return [state, plural(rows.length, 'thread'), `since ${formatClock(firstAt)}`, tokens, cost].join(' · ');
}
