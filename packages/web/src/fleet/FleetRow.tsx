import { memo } from 'react';
import { Glyph } from '../app/Glyph.tsx';
import { ui } from '../app/stores.ts';
import { ROW_HEIGHT } from './paint-lanes.ts';
import type { RowCells } from './row-cells.ts';

export interface RowPlace {
  readonly rowKey: string;
  readonly place: number;
  readonly isSelected: boolean;
  /** Tab leads to one row; the arrows lead on from there. */
  readonly isTabStop: boolean;
}

interface FleetRowProps extends RowPlace, RowCells {
  /** Of each level: 1 if another branch follows there. */
  readonly branches: string;
  readonly fold: 'open' | 'shut' | 'none';
  readonly href: string;
  /** The lane in words, of the row that is chosen. */
  readonly lane: string;
}

/** One thread. Everything it gets is text or a number, so that it is drawn only when something differs. */
export const FleetRow = memo(function FleetRow(props: FleetRowProps) {
  const { rowKey, place, state, fold, context, branches } = props;
  return (
    <div
      className="row thread-row"
      role="row"
      aria-rowindex={place + 2}
      aria-level={branches.length + 1}
      aria-selected={props.isSelected}
      aria-expanded={fold === 'none' ? undefined : fold === 'open'}
      tabIndex={props.isTabStop ? 0 : -1}
      data-key={rowKey}
      data-state={state}
      style={{ transform: `translateY(${place * ROW_HEIGHT}px)` }}
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
            aria-label={fold === 'open' ? 'Fold' : 'Unfold'}
            onClick={() => ui.toggleCollapsed(rowKey)}
          >
            {fold === 'open' ? '▾' : '▸'}
          </button>
        )}
        <a href={props.href} tabIndex={-1} title={props.agent}>
          <span className="agent-name">{props.agent}</span>
          {props.ordinal > 0 && <span className="ordinal">{props.ordinal}</span>}
        </a>
      </div>
      <div role="gridcell" data-column="model" title={props.model}>
        {props.model}
      </div>
      <div role="gridcell" data-column="doing" title={props.doing}>
        {props.doing}
      </div>
      <div role="gridcell" data-column="in">
        {props.inState}
      </div>
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
      <div role="gridcell" data-column="tokens">
        {props.tokens}
      </div>
      <div role="gridcell" data-column="cost">
        {props.cost}
      </div>
      <div role="gridcell" data-column="below">
        {props.costBelow}
      </div>
      <div role="gridcell" data-column="errors">
        {props.errors}
      </div>
      <div role="gridcell" data-column="age">
        {props.age}
      </div>
    </div>
  );
});

function Branches({ branches }: { branches: string }) {
  if (branches === '') return null;
  const text = Array.from(branches, (goesOn, index) => {
    const isOwn = index === branches.length - 1;
    if (isOwn) return goesOn === '1' ? '├' : '└';
    return goesOn === '1' ? '│' : ' ';
  });
  return (
    <span className="branches" aria-hidden="true">
      {text.join('')}
    </span>
  );
}
