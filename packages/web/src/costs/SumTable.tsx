import { hasExamplePrice } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatCost, formatCount, formatNumber, plural } from '../model/format.ts';
import type { CostSum } from './sum-costs.ts';

interface SumTableProps {
  readonly name: string;
  readonly sums: readonly CostSum[];
  readonly linkOf: (name: string) => string;
}

/** Sums by agent or model, each with its share and a link to its sessions. */
export function SumTable({ name, sums, linkOf }: SumTableProps) {
  const most = Math.max(...sums.map(({ cost }) => cost), Number.MIN_VALUE);
  const shown = sums.slice(0, SHOWN_MAX);
  return (
    <section aria-label={`${name}s`}>
      <h2>{name}s</h2>
      <table className="sums">
        <thead>
          <tr>
            <th scope="col">{name}</th>
            <th scope="col">Sessions</th>
            <th scope="col">Tokens</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((sum) => (
            <tr key={sum.name} style={{ backgroundSize: `${(100 * sum.cost) / most}% 100%` }}>
              <td>
                <a href={linkOf(sum.name)}>{cleanLine(sum.name)}</a>
              </td>
              <td>{formatNumber(sum.sessions)}</td>
              <td>{formatCount(sum.tokens)}</td>
              <td>
                {hasExamplePrice(sum.name) && 'e.g. '}
                {sum.unpriced === sum.sessions ? 'not known' : formatCost(sum.cost)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {sums.length > shown.length && <p className="quiet">{plural(sums.length - shown.length, 'other')} in the CSV.</p>}
    </section>
  );
}

const SHOWN_MAX = 50;
