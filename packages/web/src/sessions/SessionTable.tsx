import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { plural } from '../model/format.ts';
import { toSessionCells } from '../model/session-cells.ts';
import type { SessionFilter } from '../model/session-filter.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { useSignal } from '../stores/signal.ts';
import { sessionList } from '../stores/stores.ts';
import { useTick } from '../ui/use-tick.ts';
import { SessionLine } from './SessionLine.tsx';
import { sessionPage, sortBy } from './session-page.ts';

interface Column {
  readonly name: string;
  readonly label: string;
  readonly sort?: SessionFilter['sort'];
  readonly title?: string;
}

const columns: readonly Column[] = [
  { name: 'state', label: 'State', sort: 'state' },
  { name: 'name', label: 'Title', sort: 'name' },
  { name: 'agent', label: 'Agent', sort: 'agent' },
  { name: 'repository', label: 'Repository' },
  { name: 'changes', label: 'Changes', title: 'Added and removed lines' },
  { name: 'cost', label: 'Cost', sort: 'cost' },
  { name: 'tokens', label: 'Tokens', sort: 'tokens' },
  { name: 'started', label: 'Started', sort: 'created' },
  { name: 'duration', label: 'Duration', sort: 'duration', title: 'Time in which agents were running' },
  { name: 'who', label: 'Who', title: 'The key that created the session' },
];

/** All sessions that match: the header, and the rows below it. */
export function SessionTable() {
  useSignal(sessionPage.changed);
  const { total, filter } = sessionList;
  return (
    <div
      className="session-table"
      role="grid"
      aria-label="Sessions"
      aria-multiselectable="true"
      aria-rowcount={total + 1}
      aria-busy={sessionList.isSwitching}
    >
      <div className="session-head" role="row" aria-rowindex={1}>
        <div role="columnheader" data-cell="check">
          <CheckAll />
        </div>
        {columns.map((column) => (
          <Head key={column.name} column={column} filter={filter} />
        ))}
      </div>
      <SessionRows filter={filter} />
    </div>
  );
}

/** Rows have a fixed height; only visible rows are rendered, and pages are loaded on scrolling to them. Scrolling renders nothing else. */
function SessionRows({ filter }: { readonly filter: SessionFilter }) {
  useTick(1_000);
  const body = useRef<HTMLDivElement>(null);
  const [frame, setFrame] = useState({ top: sessionPage.top, height: 800, rowHeight: ROW_HEIGHT });
  const measure = useCallback(() => {
    const { current } = body;
    if (current === null) return;
    const rowHeight = matchMedia(NARROW).matches ? CARD_HEIGHT : ROW_HEIGHT;
    setFrame({ top: current.scrollTop, height: current.clientHeight, rowHeight });
  }, []);
  const { rows, total } = sessionList;
  const { top, height, rowHeight } = frame;
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const last = Math.min(total, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  useLayoutEffect(() => {
    if (body.current !== null) body.current.scrollTop = sessionPage.top;
    measure();
    const observer = new ResizeObserver(measure);
    if (body.current !== null) observer.observe(body.current);
    return () => observer.disconnect();
  }, [measure, filter]);
  useEffect(() => sessionList.need(last));
  const now = serverNow();
  const { checked, currentId } = sessionPage;
  const visible = rows.slice(first, last);
  const hasCurrent = visible.some(({ id }) => id === currentId);
  return (
    <div
      ref={body}
      className="session-rows"
      role="rowgroup"
      onScroll={(event) => {
        sessionPage.setTop(event.currentTarget.scrollTop);
        measure();
      }}
    >
      <div role="presentation" style={{ height: total * rowHeight, position: 'relative' }}>
        {visible.map((row, offset) => (
          <SessionLine
            key={row.id}
            {...toSessionCells(row, now)}
            id={row.id}
            index={first + offset}
            height={rowHeight}
            isCurrent={row.id === currentId}
            isTabStop={hasCurrent ? row.id === currentId : offset === 0}
            isChecked={checked.has(row.id)}
          />
        ))}
        {last > first + visible.length && (
          <p
            className="more-rows"
            role="row"
            style={{ transform: `translateY(${(first + visible.length) * rowHeight}px)` }}
          >
            <span role="gridcell">Loading {plural(total - rows.length, 'more session')} …</span>
          </p>
        )}
      </div>
    </div>
  );
}

const OVERSCAN = 4;
const ROW_HEIGHT = 34;
const CARD_HEIGHT = 88;
/** The same breakpoint as in sessions.css, below which rows are cards. */
const NARROW = '(max-width: 760px)';

function Head({ column, filter }: { column: Column; filter: SessionFilter }) {
  const { name, label, sort, title } = column;
  const isSorted = sort !== undefined && filter.sort === sort;
  const direction = filter.order === 'asc' ? 'ascending' : 'descending';
  return (
    <div role="columnheader" data-cell={name} title={title} aria-sort={isSorted ? direction : undefined}>
      {sort === undefined ? (
        label
      ) : (
        <button type="button" onClick={() => sortBy(filter, sort)}>
          {label}
          {isSorted && <span aria-hidden="true">{filter.order === 'asc' ? ' ▲' : ' ▼'}</span>}
        </button>
      )}
    </div>
  );
}

/** Selects all loaded rows, or none. */
function CheckAll() {
  const { rows } = sessionList;
  const count = rows.filter(({ id }) => sessionPage.checked.has(id)).length;
  return (
    <input
      type="checkbox"
      aria-label="Select all loaded sessions"
      ref={(box) => {
        if (box !== null) box.indeterminate = count > 0 && count < rows.length;
      }}
      checked={count > 0 && count === rows.length}
      onChange={(event) =>
        sessionPage.check(
          rows.map(({ id }) => id),
          event.target.checked,
        )
      }
    />
  );
}
