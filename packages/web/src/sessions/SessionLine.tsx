import { memo } from 'react';
import { type SessionCells, sessionGlyphs } from '../model/session-cells.ts';
import { LineCounts } from '../ui/LineCounts.tsx';
import { sessionPage } from './session-page.ts';

interface SessionLineProps extends SessionCells {
  readonly id: string;
  readonly index: number;
  readonly height: number;
  readonly isCurrent: boolean;
  /** Whether Tab reaches this row. Tab reaches one row, and `j` and `k` move from there. */
  readonly isTabStop: boolean;
  readonly isChecked: boolean;
}

/** One session. All props are texts and numbers, so that `memo` renders a row only when one of them differs. */
export const SessionLine = memo(function SessionLine(props: SessionLineProps) {
  const { id, index, height, state, name } = props;
  return (
    <div
      className="session-line"
      role="row"
      aria-rowindex={index + 2}
      aria-selected={props.isChecked}
      tabIndex={props.isTabStop ? 0 : -1}
      data-id={id}
      data-state={state}
      data-current={props.isCurrent}
      style={{ transform: `translateY(${index * height}px)`, height }}
      onClick={() => sessionPage.setCurrent(id)}
    >
      <div role="gridcell" data-cell="check">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${name}`}
          checked={props.isChecked}
          onChange={(event) => sessionPage.check([id], event.target.checked)}
        />
      </div>
      <div role="gridcell" data-cell="state" data-ink={sessionGlyphs[state].ink}>
        <i aria-hidden="true">{props.glyph}</i>
        {props.word}
      </div>
      <div role="gridcell" data-cell="name">
        <a href={`#/session/${id}`} tabIndex={-1} title={name}>
          {name}
        </a>
        {props.reason !== '' && (
          <span className="reason" title={props.reason}>
            {props.reason}
          </span>
        )}
      </div>
      <div role="gridcell" data-cell="agent" title={props.agent}>
        {props.agent}
      </div>
      <div role="gridcell" data-cell="repository" title={props.repositoryTitle}>
        {props.repository}
        {props.branch !== '' && <span className="quiet"> {props.branch}</span>}
      </div>
      <div role="gridcell" data-cell="changes" title={props.files > 0 ? `${props.files} files changed` : undefined}>
        {props.files > 0 && <LineCounts added={props.added} removed={props.removed} />}
      </div>
      <div
        role="gridcell"
        data-cell="cost"
        title={props.cost === '?' ? 'The price of a model is not known' : undefined}
      >
        {props.cost}
      </div>
      <div role="gridcell" data-cell="tokens">
        {props.tokens}
        <span className="unit"> tokens</span>
      </div>
      <div role="gridcell" data-cell="started" title={props.startedTitle}>
        {props.started}
      </div>
      <div role="gridcell" data-cell="duration">
        {props.duration}
      </div>
      <div role="gridcell" data-cell="who" title={props.who}>
        {props.who}
      </div>
    </div>
  );
});
