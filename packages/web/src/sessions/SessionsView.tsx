import { type ReactNode, useEffect } from 'react';
import { formatAgo, formatClock, plural } from '../model/format.ts';
import { isFiltered, noFilter, parseFilter, type SessionFilter } from '../model/session-filter.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, sessionList, ui } from '../stores/stores.ts';
import { FirstSteps } from '../ui/FirstSteps.tsx';
import { SelectionBar } from './SelectionBar.tsx';
import { SessionFilters } from './SessionFilters.tsx';
import { SessionTable } from './SessionTable.tsx';
import { showFilter } from './session-page.ts';

/** All sessions of the workspace, as the server lists and counts them. */
export function SessionsView({ search }: { search: string }) {
  useSignal(sessionList.changed);
  useSignal(fleet.linkChanged);
  useEffect(() => {
    sessionList.open(parseFilter(search));
  }, [search]);
  useEffect(() => () => sessionList.close(), []);
  const filter = parseFilter(search);
  const { state, total, rows, facets, unlisted } = sessionList;
  const isEmpty = state === 'ready' && !sessionList.isSwitching && total === 0 && rows.length === 0;
  if (isEmpty && !isFiltered(filter) && unlisted === 0 && facets?.states.archived === 0) return <FirstSteps />;
  return (
    <div className="sessions">
      <h1 className="hidden-text">Sessions</h1>
      <SessionFilters filter={filter} />
      <Status />
      {rows.length === 0 ? <NoRows filter={filter} isEmpty={isEmpty} /> : <SessionTable />}
      <SelectionBar />
    </div>
  );
}

/** Why the list may be incomplete or old. */
function Status() {
  const { state, rows, unlisted, problem } = sessionList;
  const { link } = fleet;
  const parts: ReactNode[] = [];
  if (state === 'failed' && rows.length > 0) parts.push(<Failed key="failed" problem={problem} />);
  else if (link.type === 'reconnecting' || link.type === 'over')
    parts.push(
      <span key="link">
        Not connected: the rows are from {formatClock(clockOf(sessionList.readAt))} and may be out of date. The page
        reconnects on its own.{' '}
        <button type="button" onClick={() => sessionList.reload()}>
          Read them again
        </button>
      </span>,
    );
  if (unlisted > 0)
    parts.push(
      <span key="unlisted">{plural(unlisted, 'older session')} not listed yet: the server is still reading them.</span>,
    );
  return (
    <div className="session-status" role="status" data-bad={parts.length > 0}>
      {parts}
    </div>
  );
}

/** The time of day of a moment that `performance.now` measured. */
function clockOf(moment: number): number {
  return performance.timeOrigin + moment;
}

function Failed({ problem }: { problem: string }) {
  return (
    <span>
      The sessions could not be read: {problem}.{' '}
      {sessionList.readAt > 0 && `The rows are from ${formatAgo(performance.now() - sessionList.readAt)}. `}
      <button type="button" onClick={() => sessionList.reload()}>
        Try again
      </button>
    </span>
  );
}

/** Why the list has no rows, and what to do. */
function NoRows({ filter, isEmpty }: { filter: SessionFilter; isEmpty: boolean }) {
  if (sessionList.state === 'failed') {
    return (
      <div className="no-sessions" role="alert">
        <h2>The sessions could not be read</h2>
        <p>{sessionList.problem}</p>
        <p className="quiet">Check that the server is running. The agents keep running without this page.</p>
        <button type="button" className="primary" onClick={() => sessionList.reload()}>
          Try again
        </button>
      </div>
    );
  }
  if (!isEmpty) return <p className="no-rows">Loading sessions …</p>;
  const archived = sessionList.facets?.states.archived ?? 0;
  if (isFiltered(filter)) {
    return (
      <div className="no-sessions">
        <h2>No session matches</h2>
        <p className="quiet">
          The server searched the titles, first messages and agents of all sessions
          {archived > 0 && !filter.status.includes('archived') ? ' that are not archived' : ''}.
        </p>
        <button
          type="button"
          className="primary"
          onClick={() => showFilter({ ...noFilter, sort: filter.sort, order: filter.order })}
        >
          Clear filters
        </button>{' '}
        {archived > 0 && !filter.status.includes('archived') && (
          <button type="button" onClick={() => showFilter({ ...filter, status: ['archived'] })}>
            Search {plural(archived, 'archived session')}
          </button>
        )}
      </div>
    );
  }
  return (
    <div className="no-sessions">
      <h2>No open sessions</h2>
      <p className="quiet">{plural(archived, 'session')} archived.</p>
      <button
        data-needs="run"
        type="button"
        className="primary"
        onClick={() => ui.set({ dialog: { type: 'new_session' } })}
      >
        New session
      </button>{' '}
      <button type="button" onClick={() => showFilter({ ...filter, status: ['archived'] })}>
        Show archived sessions
      </button>
    </div>
  );
}
