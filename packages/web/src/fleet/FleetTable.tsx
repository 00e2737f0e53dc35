import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useHealth } from '../stores/health.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, ui } from '../stores/stores.ts';
import { CalmOrder } from '@fleetloom/protocol/fleet';
import { Settling, toActiveSessions } from './active-sessions.ts';
import { columnChoice } from './column-choice.ts';
import { toEmptyColumns } from './empty-columns.ts';
import { FleetRow } from './FleetRow.tsx';
import { LaneAxis } from './LaneAxis.tsx';
import { laneText } from './lane-text.ts';
import { currentSpan, Lanes } from './Lanes.tsx';
import { ROW_HEIGHT, TOUCH_ROW_HEIGHT } from './paint-lanes.ts';
import { toRowCells } from '../ui/row-cells.ts';
import { SessionRow } from './SessionRow.tsx';
import { type TableRow, toTableRows } from './table-rows.ts';

const columns: readonly { readonly name: string; readonly label: string; readonly title?: string }[] = [
  { name: 'state', label: 'State' },
  { name: 'agent', label: 'Agent' },
  { name: 'task', label: 'Task', title: 'What the thread was asked last' },
  { name: 'model', label: 'Model' },
  { name: 'doing', label: 'Now doing' },
  { name: 'in', label: 'In', title: 'Time in this state' },
  { name: 'lane', label: '' },
  { name: 'spark', label: 'Tok/s', title: 'Text written per second' },
  { name: 'context', label: 'Ctx', title: 'Context window used' },
  { name: 'tokens', label: 'Tokens' },
  { name: 'cost', label: 'Cost', title: 'Own cost' },
  { name: 'below', label: 'Σ', title: 'Cost including delegated threads' },
  { name: 'errors', label: 'Err', title: 'Failed tool calls and turns' },
  { name: 'age', label: 'Age', title: 'Time since the last event' },
];

/** All sessions and threads. Rows have a fixed height; only visible ones are rendered. */
export function FleetTable() {
  const body = useRef<HTMLDivElement>(null);
  const order = useRef(new CalmOrder());
  const sessionOrder = useRef(new CalmOrder());
  const settling = useRef(new Settling());
  const [isHeld, setHeld] = useState(false);
  const [frame, setFrame] = useState({ top: 0, height: 800, rowHeight: ROW_HEIGHT });
  const measure = useCallback(() => {
    const { current } = body;
    const rowHeight = matchMedia(NARROW).matches ? TOUCH_ROW_HEIGHT : ROW_HEIGHT;
    if (current !== null) setFrame({ top: current.scrollTop, height: current.clientHeight, rowHeight });
  }, []);
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (body.current !== null) observer.observe(body.current);
    return () => observer.disconnect();
  }, [measure]);

  const { rowHeight } = frame;
  const now = fleet.now();
  const known = fleet.shown();
  const isSettled = settling.current.isSettled(known, now);
  const isFiltered = ui.group !== undefined || ui.query.trim() !== '';
  // A filter covers every loaded session, and a replay shows the sessions of its time.
  const sessions =
    isFiltered || fleet.replay.isOn
      ? known
      : toActiveSessions({ sessions: known, ui, now, order: sessionOrder.current, isHeld, isSettled });
  const rows = toTableRows({ sessions, ui, now, order: order.current, isHeld });
  useSignal(columnChoice.changed);
  const unused = toEmptyColumns(rows.flatMap((line) => (line.type === 'thread' ? [line.row] : [])));
  const empty = [...new Set([...unused, ...columnChoice.hidden])];
  const first = Math.max(0, Math.floor(frame.top / rowHeight) - OVERSCAN);
  const visible = rows.slice(first, Math.ceil((frame.top + frame.height) / rowHeight) + OVERSCAN);
  useHealth(visible.flatMap(stalledSession));
  const hasSelection = rows.some(({ key }) => key === ui.selectedKey);
  return (
    <div
      className="table"
      role="treegrid"
      aria-label="Threads"
      aria-rowcount={rows.length + 1}
      data-empty={empty.join(' ')}
      style={Object.fromEntries(empty.map((name) => [`--${name}`, '0px']))}
    >
      <div className="columns row" role="row" aria-rowindex={1}>
        {columns.map(({ name, label, title }) => (
          <div key={name} role="columnheader" data-column={name} title={title} aria-label={title ?? (label || 'Lane')}>
            {name === 'lane' && <span className="hidden-text">Lane</span>}
            {name === 'lane' ? <LaneAxis /> : label}
          </div>
        ))}
      </div>
      <div
        ref={body}
        className="rows"
        role="rowgroup"
        onScroll={measure}
        onPointerEnter={() => setHeld(true)}
        onPointerLeave={() => setHeld(false)}
      >
        <Lanes rows={rows} scroll={frame.top} height={frame.height} />
        <div className="rows-space" role="presentation" style={{ height: rows.length * rowHeight }}>
          {visible.map((line, index) => {
            const rowIndex = first + index;
            const isSelected = line.key === ui.selectedKey;
            return (
              <Line
                key={line.key}
                line={line}
                rowIndex={rowIndex}
                rowHeight={rowHeight}
                now={now}
                isSelected={isSelected}
                isTabStop={isSelected || (!hasSelection && rowIndex === 0)}
              />
            );
          })}
        </div>
        {rows.length === 0 && (
          <p className="no-rows">
            {!fleet.isListed ? 'Loading …' : isFiltered ? 'No thread matches the filter.' : <NothingRuns />}
          </p>
        )}
      </div>
    </div>
  );
}

const OVERSCAN = 4;
/** The same breakpoint as in fleet.css. */
const NARROW = '(max-width: 640px)';

function NothingRuns() {
  return (
    <>
      Nothing is running. Finished sessions are under <a href="#/sessions">Sessions</a>; press <kbd>c</kbd> to start
      one.
    </>
  );
}

function stalledSession(line: TableRow): string[] {
  return line.type === 'thread' && line.row.state === 'stalled' ? [line.row.sessionId] : [];
}

interface LineProps {
  readonly line: TableRow;
  readonly rowIndex: number;
  readonly rowHeight: number;
  readonly now: number;
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
}

function Line({ line, rowIndex, rowHeight, now, isSelected, isTabStop }: LineProps) {
  const common = { rowKey: line.key, rowIndex, rowHeight, isSelected, isTabStop };
  if (line.type === 'session') return <SessionRow {...common} shown={line.shown} isOpen={line.isOpen} />;
  const { row } = line;
  const isOpen = !ui.collapsed.has(line.key);
  return (
    <FleetRow
      {...common}
      {...toRowCells(row, now, fleet.isLive)}
      branches={ui.sort === 'tree' ? row.branches.map((hasNext) => (hasNext ? '1' : '0')).join('') : ''}
      fold={row.hasChildren && ui.sort === 'tree' ? (isOpen ? 'open' : 'shut') : 'none'}
      lane={isSelected ? laneText(row.session.tracks.get(row.key), currentSpan(), now) : ''}
      href={`#/session/${row.sessionId}/${row.threadId ?? ''}`}
    />
  );
}
