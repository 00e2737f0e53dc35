import { inBackground } from './connection/in-background.ts';
import { fleet, sessionCounts, sessionList } from './stores.ts';

/** Keeps the list and the counts of sessions current: by events, and by reading them again after each interruption. */
export function followSessions(): void {
  let isLive = false;
  fleet.onSessionsChanged = (event) => {
    sessionCounts.take(event);
    sessionList.take(event);
  };
  fleet.linkChanged.subscribe(() => {
    if (fleet.isLive === isLive) return;
    isLive = fleet.isLive;
    if (!isLive) return;
    // Changes during an interruption of the connection are not emitted again.
    inBackground(sessionCounts.read());
    sessionList.refresh();
  });
}
