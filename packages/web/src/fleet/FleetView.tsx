import { useSignal } from '../app/signal.ts';
import { fleet, ui } from '../app/stores.ts';
import { EmptyFleet } from './EmptyFleet.tsx';
import { FleetTable } from './FleetTable.tsx';
import { SummaryBar } from './SummaryBar.tsx';

/** View 1: who is doing what, now. */
export function FleetView() {
  useSignal(fleet.changed);
  useSignal(ui.changed);
  const isEmpty = fleet.isListed && fleet.model.sessions.size === 0;
  if (isEmpty) return <EmptyFleet />;
  return (
    <div className="fleet">
      <h1 className="hidden-text">Fleet</h1>
      <SummaryBar />
      <FleetTable />
    </div>
  );
}
