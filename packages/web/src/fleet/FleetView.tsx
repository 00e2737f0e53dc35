import { useSignal } from '../stores/signal.ts';
import { fleet, sessionCounts, ui } from '../stores/stores.ts';
import { plural } from '../model/format.ts';
import { FirstSteps } from '../ui/FirstSteps.tsx';
import { FleetTable } from './FleetTable.tsx';
import { SummaryBar } from './SummaryBar.tsx';

/** Summary and table of the active threads, or first steps if there is no session. */
export function FleetView() {
  useSignal(fleet.changed);
  useSignal(ui.changed);
  const isEmpty = fleet.isListed && fleet.model.sessions.size === 0;
  if (isEmpty) return <FirstSteps />;
  return (
    <div className="fleet">
      <h1 className="hidden-text">Fleet</h1>
      <SummaryBar />
      <FleetTable />
      <Rest />
    </div>
  );
}

/** A link to the list of sessions, which also has the sessions that this page does not show. */
function Rest() {
  useSignal(sessionCounts.changed);
  const { value } = sessionCounts;
  if (value === undefined || fleet.replay.isOn) return null;
  const count = Object.values(value).reduce((total, one) => total + one, 0);
  return (
    <p className="fleet-rest">
      Active sessions, and those of the time shown.{' '}
      <a href="#/sessions">{count === 1 ? 'The list of sessions' : `All ${plural(count, 'session')}`}</a>
    </p>
  );
}
