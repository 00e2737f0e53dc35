import { formatUsageCost, sessionStates, tokensOf } from '@fleetloom/protocol/fleet';
import type { ShownSession } from '../stores/fleet-store.ts';
import { fleet, ui } from '../stores/stores.ts';
import { formatClock, formatCount, plural } from '../model/format.ts';
import { toFleetState } from '../model/fleet-state.ts';
import { nameOfSession } from '../model/name-of-session.ts';
import type { RowPosition } from './FleetRow.tsx';

/** The row above a session's threads: title, state, totals, and actions on the whole session. */
export function SessionRow({
  rowKey,
  rowIndex,
  rowHeight,
  isSelected,
  isTabStop,
  shown,
  isOpen,
}: RowPosition & { shown: ShownSession; isOpen: boolean }) {
  const { session, slots, rows, isLoading } = shown;
  const run = slots.runs.at(-1);
  const isRunning = run?.state === 'running';
  const title = nameOfSession(session);
  const toggle = () => {
    ui.setSessionOpen(session.id, !isOpen);
    if (!isOpen) fleet.load(session.id);
  };
  return (
    <div
      className="row session-row"
      role="row"
      aria-rowindex={rowIndex + 2}
      aria-level={1}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      tabIndex={isTabStop ? 0 : -1}
      data-key={rowKey}
      style={{ transform: `translateY(${rowIndex * rowHeight}px)` }}
      onClick={() => ui.set({ selectedKey: rowKey })}
    >
      <div role="gridcell" className="session-cell">
        <button
          type="button"
          className="fold"
          tabIndex={-1}
          aria-label={isOpen ? 'Collapse' : 'Expand'}
          onClick={toggle}
        >
          {isOpen ? '▾' : '▸'}
        </button>
        <a className="session-name" href={`#/session/${session.id}`} tabIndex={-1} title={title}>
          {title}
        </a>
        <span className="quiet">{isLoading ? 'loading …' : factsOf(shown)}</span>
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

/** Facts from the session's log, or from the session list where the log is not loaded. */
function factsOf({ session, slots, rows }: ShownSession): string {
  const { record, firstAt } = session;
  const state = sessionStates[toFleetState({ session, slots, rows })].label;
  if (firstAt === null) {
    if (record === undefined) return '';
    const { input_tokens: input, output_tokens: output } = record.usage;
    return `${state} · ${new Date(record.created_at).toLocaleString()} · ${formatCount(input + output)} tokens`;
  }
  const { usage } = slots.totals;
  const cost = formatUsageCost(usage);
  const tokens = `${formatCount(tokensOf(usage))} tokens`;
  return [state, plural(rows.length, 'thread'), `since ${formatClock(firstAt)}`, tokens, cost].join(' · ');
}
