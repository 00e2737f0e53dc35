import type { FleetBudget, FleetCosts } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatCost, formatCount, formatDuration, formatNumber, plural } from '../model/format.ts';

/** Sessions with a budget, sessions that it stopped first. */
export function Budgets({ costs: { budgets, budget_counts: counts } }: { costs: FleetCosts }) {
  const left = counts.reached + counts.within - budgets.length;
  return (
    <section aria-label="Budgets">
      <h2>Budgets</h2>
      {budgets.length === 0 ? (
        <p className="quiet">
          No session of this period has a budget. Set one when you start a session: it pauses the session when it is
          reached.
        </p>
      ) : (
        <>
          <p>
            {plural(counts.reached, 'session')} reached {counts.reached === 1 ? 'its' : 'their'} budget,{' '}
            {formatNumber(counts.within)} {counts.within === 1 ? 'is' : 'are'} within it.
          </p>
          <table className="sums">
            <thead>
              <tr>
                <th scope="col">Session</th>
                <th scope="col">Budget</th>
                <th scope="col">Used</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {budgets.map((budget) => (
                <tr key={budget.session.id}>
                  <td>
                    <a href={`#/session/${budget.session.id}`}>{cleanLine(budget.session.name)}</a>
                  </td>
                  <td>{describeBudget(budget)}</td>
                  <td>{budget.session.cost_usd === null ? 'not known' : formatCost(budget.session.cost_usd)}</td>
                  <td data-ink={budget.is_reached ? 'needs' : undefined}>
                    {budget.is_reached ? '! reached' : 'within'}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {left > 0 && <p className="quiet">{plural(left, 'other session')} not shown.</p>}
        </>
      )}
    </section>
  );
}

function describeBudget(budget: FleetBudget): string {
  const { max_cost_usd: cost, max_tokens: tokens, max_requests: requests, max_active_ms: activeMs } = budget;
  return [
    cost === null ? [] : formatCost(cost),
    tokens === null ? [] : `${formatCount(tokens)} tokens`,
    requests === null ? [] : plural(requests, 'model request'),
    activeMs === null ? [] : formatDuration(activeMs),
  ]
    .flat()
    .join(', ');
}
