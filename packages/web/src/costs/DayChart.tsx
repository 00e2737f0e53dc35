import { formatCost, formatNumber, plural } from '../model/format.ts';
import type { CostSum } from './sum-costs.ts';

/** The cost of each day as a bar; the same as a table below it. */
export function DayChart({ days }: { days: readonly CostSum[] }) {
  const most = Math.max(...days.map(({ cost }) => cost), Number.MIN_VALUE);
  return (
    <section aria-label="Days" className="days">
      <h2>Days</h2>
      <div className="day-chart" aria-hidden="true">
        {most > Number.MIN_VALUE && <span className="day-most">{formatCost(most)}</span>}
        {days.map((day) => (
          <i key={day.name} title={`${day.name}: ${formatCost(day.cost)}, ${plural(day.sessions, 'session')}`}>
            <b style={{ height: `${(100 * day.cost) / most}%` }} data-empty={day.sessions === 0} />
          </i>
        ))}
      </div>
      <p className="day-axis quiet" aria-hidden="true">
        <span>{days[0]?.name}</span>
        <span>{days.at(-1)?.name}</span>
      </p>
      <details>
        <summary>Days as a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Sessions</th>
              <th scope="col">Tokens</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {days
              .filter(({ sessions }) => sessions > 0)
              .toReversed()
              .map(({ name, sessions, tokens, cost }) => (
                <tr key={name}>
                  <td>{name}</td>
                  <td>{formatNumber(sessions)}</td>
                  <td>{formatNumber(tokens)}</td>
                  <td>{formatCost(cost)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}
