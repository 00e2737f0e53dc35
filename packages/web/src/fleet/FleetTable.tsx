import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useHealth } from '../app/health.ts';
import { fleet, ui } from '../app/stores.ts';
import { CalmOrder } from '../model/attention.ts';
import { FleetRow } from './FleetRow.tsx';
import { LaneAxis } from './LaneAxis.tsx';
import { laneText } from './lane-text.ts';
import { currentSpan, Lanes } from './Lanes.tsx';
import { ROW_HEIGHT } from './paint-lanes.ts';
import { toRowCells } from './row-cells.ts';
import { SessionRow } from './SessionRow.tsx';
import { type TableRow, toTableRows } from './table-rows.ts';

const columns: readonly { readonly name: string; readonly label: string; readonly title?: string }[] = [
  { name: 'state', label: 'State' },
  { name: 'agent', label: 'Agent' },
  { name: 'model', label: 'Model' },
  { name: 'doing', label: 'Now doing' },
  { name: 'in', label: 'In', title: 'Time in this state' },
  { name: 'lane', label: '' },
  { name: 'spark', label: 'Tok/s', title: 'Text written in each of the last seconds' },
  { name: 'context', label: 'Ctx', title: 'How full the context window is' },
  { name: 'tokens', label: 'Tokens' },
  { name: 'cost', label: 'Cost', title: 'Its own' },
  { name: 'below', label: 'Σ', title: 'With all that it delegated' },
  { name: 'errors', label: 'Err', title: 'Failed calls and turns' },
  { name: 'age', label: 'Age', title: 'Since the last event' },
];

/** Rows of a fixed height in a frame that scrolls: only those in sight are drawn. */
export function FleetTable() {
  const body = useRef<HTMLDivElement>(null);
  const order = useRef(new CalmOrder());
  const [isHeld, setHeld] = useState(false);
  const [frame, setFrame] = useState({ top: 0, height: 800 });
  const measure = useCallback(() => {
    const { current } = body;
    if (current !== null) setFrame({ top: current.scrollTop, height: current.clientHeight });
  }, []);
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (body.current !== null) observer.observe(body.current);
    return () => observer.disconnect();
  }, [measure]);

  const now = fleet.now();
  const rows = toTableRows({ sessions: fleet.shown(), ui, now, order: order.current, isHeld });
  const first = Math.max(0, Math.floor(frame.top / ROW_HEIGHT) - OVERSCAN);
  const visible = rows.slice(first, Math.ceil((frame.top + frame.height) / ROW_HEIGHT) + OVERSCAN);
  useHealth(visible.flatMap(stalledSession));
  const hasSelection = rows.some(({ key }) => key === ui.selectedKey);
  return (
    <div className="table" role="treegrid" aria-label="Threads" aria-rowcount={rows.length + 1}>
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
        <div className="rows-space" role="presentation" style={{ height: rows.length * ROW_HEIGHT }}>
          {visible.map((line, index) => {
            const place = first + index;
            const isSelected = line.key === ui.selectedKey;
            return (
              <Line
                key={line.key}
                line={line}
                place={place}
                now={now}
                isSelected={isSelected}
                isTabStop={isSelected || (!hasSelection && place === 0)}
              />
            );
          })}
        </div>
        {rows.length === 0 && <p className="no-rows">{fleet.isListed ? 'Nothing fits the filter.' : 'Reading …'}</p>}
      </div>
    </div>
  );
}

const OVERSCAN = 4;

function stalledSession(line: TableRow): string[] {
  return line.type === 'thread' && line.row.state === 'stalled' ? [line.row.sessionId] : [];
}

interface LineProps {
  readonly line: TableRow;
  readonly place: number;
  readonly now: number;
  readonly isSelected: boolean;
  readonly isTabStop: boolean;
}

function Line({ line, place, now, isSelected, isTabStop }: LineProps) {
  const common = { rowKey: line.key, place, isSelected, isTabStop };
  if (line.type === 'session') return <SessionRow {...common} shown={line.shown} isOpen={line.isOpen} />;
  const { row } = line;
  const isOpen = !ui.collapsed.has(line.key);
  return (
    <FleetRow
      {...common}
      {...toRowCells(row, now, fleet.isLive)}
      branches={ui.sort === 'tree' ? row.branches.map((goesOn) => (goesOn ? '1' : '0')).join('') : ''}
      fold={row.hasChildren && ui.sort === 'tree' ? (isOpen ? 'open' : 'shut') : 'none'}
      lane={isSelected ? laneText(row.session.tracks.get(row.key), currentSpan(), now) : ''}
      href={`#/thread/${row.sessionId}/${row.threadId ?? ''}`}
    />
  );
}
