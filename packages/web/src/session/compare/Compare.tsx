import { cutText, tokensOf } from '@fleetloom/protocol/fleet';
import { Glyph } from '../../ui/Glyph.tsx';
import { fleet } from '../../stores/stores.ts';
import { formatCost, formatCount, formatSpan } from '../../model/format.ts';
import { sessionLimits } from '../transcript/limits.ts';
import type { ShownRow } from '../../model/summary.ts';
import { threadName } from '../../model/thread-name.ts';
import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import { pairRequests, type RequestSummary } from './compare-requests.ts';
import type { Block } from '../transcript/blocks.ts';

interface CompareProps {
  readonly sides: readonly [ShownRow, ShownRow];
  readonly blocks: readonly [readonly Block[], readonly Block[]];
}

/** Two threads side by side: totals with their difference, and the output of each model request. */
export function Compare({ sides, blocks }: CompareProps) {
  const pairs = pairRequests(...blocks);
  const timeOf = ({ slot }: ShownRow) => (slot.endedAt ?? fleet.now()) - (slot.startedAt ?? fleet.now());
  const figures: readonly (readonly [name: string, of: (row: ShownRow) => number, show: (value: number) => string])[] =
    [
      ['cost', ({ usage }) => usage.costUsd, formatCost],
      ['tokens', ({ usage }) => tokensOf(usage), formatCount],
      ['requests', ({ usage }) => usage.requests, String],
      ['newest turn', timeOf, formatSpan],
      ['failures', ({ errors }) => errors, String],
    ];
  return (
    <div className="compare" tabIndex={0} role="region" aria-label="Comparison">
      <h1 className="hidden-text">Two threads compared</h1>
      <table className="usage">
        <thead>
          <tr>
            <th scope="col">total</th>
            {sides.map((row, index) => (
              <th key={index} scope="col">
                {threadName(row)}
              </th>
            ))}
            <th scope="col">difference</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>state</td>
            {sides.map((row, index) => (
              <td key={index} data-ink={row.state}>
                <Glyph glyph={row.glyph} /> {row.word}
              </td>
            ))}
            <td />
          </tr>
          {figures.map(([name, of, show]) => {
            const [left, right] = [of(sides[0]), of(sides[1])];
            const sign = right === left ? '=' : right > left ? '+' : '−';
            return (
              <tr key={name}>
                <td>{name}</td>
                <td>{show(left)}</td>
                <td>{show(right)}</td>
                <td>{right === left ? sign : `${sign}${show(Math.abs(right - left))}`}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <ol className="compare-requests">
        {pairs.slice(0, sessionLimits.comparedRequestsMax).map((pair, index) => (
          <li key={index}>
            <span className="request-number quiet">request {index + 1}</span>
            {pair.map((side, place) => (
              <Side key={place} side={side} />
            ))}
          </li>
        ))}
      </ol>
      {pairs.length > sessionLimits.comparedRequestsMax && (
        <p className="quiet">{pairs.length - sessionLimits.comparedRequestsMax} more requests: see the transcripts.</p>
      )}
    </div>
  );
}

function Side({ side }: { side: RequestSummary | undefined }) {
  if (side === undefined) return <div className="compare-side quiet">–</div>;
  const facts = [side.ms === null ? 'in progress' : formatSpan(side.ms)];
  if (side.tokens !== null) facts.push(`${formatCount(side.tokens)} tokens`);
  return (
    <div className="compare-side">
      <p className="quiet">{facts.join(' · ')}</p>
      {side.text !== '' && <p className="compare-text">{cleanText(cutText(side.text, SHOWN_CHARS))}</p>}
      {side.calls.map(({ name, label, isError }, index) => (
        <p key={index} className="one-line">
          <b data-ink={isError ? 'error' : 'tool'}>
            {isError ? '✗' : '⚙'} {cleanLine(name)}
          </b>{' '}
          <code>{cleanLine(label)}</code>
        </p>
      ))}
    </div>
  );
}

const SHOWN_CHARS = 400;
