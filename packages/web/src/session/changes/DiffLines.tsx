import { useMemo } from 'react';
import { VList } from 'virtua';
import type { CodeFamily } from '../../ui/text/highlight-code.ts';
import { CodeLine } from './CodeLine.tsx';
import { type DiffRow, parseDiff, type SidesRow, toSides } from './parse-diff.ts';

interface DiffLinesProps {
  readonly diff: string;
  readonly family: CodeFamily;
  readonly isSideBySide: boolean;
}

/** A unified diff, on one side or on two. Only visible lines are rendered. */
export function DiffLines({ diff, family, isSideBySide }: DiffLinesProps) {
  const rows = useMemo(() => parseDiff(diff), [diff]);
  const sides = useMemo(() => (isSideBySide ? toSides(rows) : []), [rows, isSideBySide]);
  const label = isSideBySide ? 'Diff, side by side' : 'Diff';
  const shared = { className: 'code-lines', tabIndex: 0, role: 'group', 'aria-label': label } as const;
  return isSideBySide ? (
    <VList key="sides" {...shared} data={sides}>
      {(row, index) => <Sides key={index} row={row} family={family} />}
    </VList>
  ) : (
    <VList key="unified" {...shared} data={rows}>
      {(row, index) => <Unified key={index} row={row} family={family} />}
    </VList>
  );
}

const signs = { same: ' ', added: '+', removed: '−' } as const;

function Unified({ row, family }: { row: DiffRow; family: CodeFamily }) {
  if (row.type === 'hunk' || row.type === 'note') return <Whole row={row} />;
  return (
    <div className="code-line" data-diff={row.type}>
      <i aria-hidden="true">{row.type === 'added' ? '' : row.before}</i>
      <i aria-hidden="true">{row.type === 'removed' ? '' : row.after}</i>
      <Sign type={row.type} />
      <CodeLine text={row.text} family={family} />
    </div>
  );
}

function Sides({ row, family }: { row: SidesRow; family: CodeFamily }) {
  if (row.type === 'whole') return <Whole row={row.row} />;
  return (
    <div className="code-sides">
      {([row.left, row.right] as const).map((line, side) => (
        <div key={side} className="code-line" data-diff={line?.type ?? 'none'}>
          {line !== undefined && (
            <>
              <i aria-hidden="true">
                {'before' in line && side === 0 ? line.before : 'after' in line ? line.after : ''}
              </i>
              <Sign type={line.type} />
              <CodeLine text={line.text} family={family} />
            </>
          )}
        </div>
      ))}
    </div>
  );
}

function Sign({ type }: { type: keyof typeof signs }) {
  return (
    <>
      <i aria-hidden="true">{signs[type]}</i>
      {type !== 'same' && <span className="hidden-text">{type}: </span>}
    </>
  );
}

function Whole({ row }: { row: Extract<DiffRow, { type: 'hunk' | 'note' }> }) {
  return (
    <div className="code-whole" data-row={row.type}>
      <CodeLine text={row.text} family="plain" />
    </div>
  );
}
