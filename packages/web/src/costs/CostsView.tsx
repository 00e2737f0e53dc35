import { type FleetCosts, hasExamplePrice } from '@fleetloom/protocol/fleet';
import { formatCost, formatCount, formatDay, formatNumber, plural } from '../model/format.ts';
import { api } from '../stores/connection/api.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { useSignal } from '../stores/signal.ts';
import { sessionCounts } from '../stores/stores.ts';
import { saveText } from '../ui/save-file.ts';
import { useLoaded } from '../ui/use-loaded.ts';
import { Budgets } from './Budgets.tsx';
import { CostSessions } from './CostSessions.tsx';
import { DayChart } from './DayChart.tsx';
import { listDays, sumAll, sumBy } from './sum-costs.ts';
import { SumTable } from './SumTable.tsx';
import { toCsv } from './to-csv.ts';

const periods: readonly number[] = [7, 30, 90, 365];

/** The costs of all sessions of the workspace that were created in a period, as the server sums them up. */
export function CostsView({ search }: { search: string }) {
  useSignal(sessionCounts.changed);
  const asked = Number(new URLSearchParams(search).get('days'));
  const days = periods.includes(asked) ? asked : 30;
  // Costs are requested again when a session changes its state: between these changes too little is added.
  const version = JSON.stringify(sessionCounts.value ?? {});
  const { value, problem, isLoading } = useLoaded(String(days), version, () => readCosts(days));
  return (
    <div className="costs" aria-busy={isLoading}>
      <header className="costs-head">
        <h1>Costs</h1>
        <nav className="segments" aria-label="Period">
          {periods.map((each) => (
            <a key={each} href={`#/costs?days=${each}`} aria-current={each === days ? 'page' : undefined}>
              {each} days
            </a>
          ))}
        </nav>
        {value !== undefined && value.groups.length > 0 && (
          <button type="button" onClick={() => saveCsv(value)}>
            Download CSV
          </button>
        )}
      </header>
      {problem !== undefined && (
        <p className="fault" role="alert">
          The costs could not be read: {problem instanceof Error ? problem.message : 'no answer'}. Choose another
          period, or reload the page.
        </p>
      )}
      {value === undefined && problem === undefined && <p className="no-rows">Adding up …</p>}
      {value !== undefined && <Sums costs={value} days={days} />}
    </div>
  );
}

function Sums({ costs, days }: { costs: FleetCosts; days: number }) {
  const { groups, unlisted_count: unlisted } = costs;
  const total = sumAll(groups);
  const example = sumAll(groups.filter(({ model }) => hasExamplePrice(model)));
  const isExample = example.cost > 0 && example.sessions === total.sessions;
  if (total.sessions === 0)
    return (
      <section className="nothing" aria-label="Costs">
        <h2>No session in these {days} days</h2>
        <p className="quiet">
          Choose a longer period, or press <kbd>c</kbd> to start a session.
        </p>
      </section>
    );
  return (
    <>
      <dl className="totals">
        <Total name={isExample ? 'Example cost' : 'Cost'} value={formatCost(total.cost)} />
        <Total name="Sessions" value={formatNumber(total.sessions)} />
        <Total name="Tokens" value={formatCount(total.tokens)} />
        <Total name="Per session" value={formatCost(total.cost / Math.max(1, total.sessions - total.unpriced))} />
      </dl>
      <p className="quiet">
        List prices in US dollars; what you pay may differ. A session counts on the day it was created, under the agent
        and model of its coordinator, with all its threads.
        {example.sessions > 0 &&
          ` ${formatCost(example.cost)} of it is an example price: the scripted models of the demo cost nothing.`}
        {total.unpriced > 0 &&
          ` The cost of ${plural(total.unpriced, 'session')} is not known, because a model has no known price, and is not included.`}
        {unlisted > 0 && ` ${plural(unlisted, 'older session')} not added yet: the server is still reading them.`}
      </p>
      <DayChart days={listDays(groups, formatDay(Date.parse(costs.to)), days)} />
      <div className="cost-tables">
        <SumTable
          name="Agent"
          sums={sumBy(groups, 'agent')}
          linkOf={(agent) => `#/sessions?agent=${encodeURIComponent(agent)}`}
        />
        <SumTable
          name="Model"
          sums={sumBy(groups, 'model')}
          linkOf={(model) => `#/sessions?model=${encodeURIComponent(model)}`}
        />
      </div>
      <CostSessions sessions={costs.sessions} now={serverNow()} />
      <Budgets costs={costs} />
    </>
  );
}

function Total({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Reads the costs from the beginning of the first day, in local time, until now. */
async function readCosts(days: number): Promise<FleetCosts> {
  const now = new Date();
  const from = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1));
  const query = new URLSearchParams({ from: from.toISOString(), utc_offset_minutes: String(-now.getTimezoneOffset()) });
  return await api.get<FleetCosts>(`v1/fleet/costs?${query}`);
}

function saveCsv({ groups, to }: FleetCosts): void {
  // Spreadsheets need this mark to detect UTF-8.
  saveText(`\u{FEFF}${toCsv(groups)}`, 'text/csv;charset=utf-8', `fleetloom-costs-${formatDay(Date.parse(to))}.csv`);
}
