import { memo } from 'react';
import { Glyph } from '../ui/Glyph.tsx';
import { ui } from '../stores/stores.ts';
import type { RowCells } from '../ui/row-cells.ts';

/** Position and selection of a table row. */
export interface RowPosition {
  readonly rowKey: string;
  readonly rowIndex: number;
  readonly rowHeight: number;
  readonly isSelected: boolean;
  /** Whether Tab reaches this row. Tab reaches one row, and arrow keys move from there. */
  readonly isTabStop: boolean;
}

interface FleetRowProps extends RowPosition, RowCells {
  /** One digit per level of the tree: 1 if a later sibling follows on that level. */
  readonly branches: string;
  readonly fold: 'open' | 'shut' | 'none';
  readonly href: string;
  /** The lane as text, for screen readers; empty unless the row is selected. */
  readonly lane: string;
}

/** One thread. All props are texts and numbers, so that `memo` renders a row only when one of them differs. */
export const FleetRow = memo(function FleetRow(props: FleetRowProps) {
  const { rowKey, rowIndex, rowHeight, state, fold, context, branches } = props;
  return (
    <div
      className="row thread-row"
      role="row"
      aria-rowindex={rowIndex + 2}
      aria-level={branches.length + 1}
      aria-selected={props.isSelected}
      aria-expanded={fold === 'none' ? undefined : fold === 'open'}
      tabIndex={props.isTabStop ? 0 : -1}
      data-key={rowKey}
      data-state={state}
      style={{ transform: `translateY(${rowIndex * rowHeight}px)` }}
      onClick={() => ui.set({ selectedKey: rowKey })}
    >
      <div role="gridcell" data-column="state" data-ink={state}>
        <Glyph glyph={props.glyph} />
        {props.word}
      </div>
      <div role="gridcell" data-column="agent">
        <Branches branches={branches} />
        {fold !== 'none' && (
          <button
            type="button"
            className="fold"
            tabIndex={-1}
            aria-label={fold === 'open' ? 'Collapse' : 'Expand'}
            onClick={() => ui.toggleCollapsed(rowKey)}
          >
            {fold === 'open' ? '▾' : '▸'}
          </button>
        )}
        <a href={props.href} tabIndex={-1} title={props.task === '' ? props.agent : `${props.agent}: ${props.task}`}>
          <span className="agent-name">{props.agent}</span>
          {props.ordinal > 0 && <span className="ordinal">{props.ordinal}</span>}
        </a>
      </div>
      <Cell column="task" text={props.task} title={props.task} />
      <Cell column="model" text={props.model} title={props.model} />
      <Cell column="doing" text={props.doing} title={props.doing} />
      <Cell column="in" text={props.inState} />
      <div role="gridcell" data-column="lane">
        <span className="hidden-text">{props.lane}</span>
      </div>
      <div role="gridcell" data-column="spark" />
      <div role="gridcell" data-column="context">
        {context >= 0 && (
          <span className="context" data-full={context >= 80} title={`${context} % of the context window`}>
            <span style={{ transform: `scaleX(${Math.min(1, context / 100)})` }} />
            <b>{context}%</b>
          </span>
        )}
      </div>
      <Cell column="tokens" text={props.tokens} />
      <Cell column="cost" text={props.cost} />
      <Cell column="below" text={props.costBelow} />
      <Cell column="errors" text={props.errors} />
      <Cell column="age" text={props.age} />
    </div>
  );
});

function Cell({ column, text, title }: { column: string; text: string; title?: string }) {
  return (
    <div role="gridcell" data-column={column} title={title}>
      {text}
    </div>
  );
}

/** The lines of the tree before a thread's name. */
function Branches({ branches }: { branches: string }) {
  if (branches === '') return null;
  const text = Array.from(branches, (hasNext, index) => {
    const isOwn = index === branches.length - 1;
    if (isOwn) return hasNext === '1' ? '├' : '└';
    return hasNext === '1' ? '│' : ' ';
  });
  return (
    <span className="branches" aria-hidden="true">
      {text.join('')}
    </span>
  );
}
