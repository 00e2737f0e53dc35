import { openFleet } from '../connection/open-fleet.ts';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../base/io.ts';
import { decideApprovals } from '../run/decide-approvals.ts';
import type { StopListener } from '../run/stop-listener.ts';
import { createTextView } from '../run/run-view.ts';

/** Shows the demo in the terminal and decides its approvals there. Returns when the demo or the process ends. */
export async function watchDemo(io: Io, api: ServerApi, sessionId: string, ended: StopListener): Promise<void> {
  const leave = new AbortController();
  const undo = ended.onRequest(() => leave.abort());
  const approvals = decideApprovals(io, {
    api,
    sessionId,
    mode: 'ask',
    // Not denied without a terminal, because the dashboard can decide too.
    isOwn: false,
    onNote: (text) => view.note(text),
    onInterrupt: () => ended.request('SIGINT'),
  });
  const view = await createTextView(
    io,
    () => approvals.isOpen,
    () => io.timers.now(),
  );
  try {
    for await (const event of openFleet(api.connection, { session: sessionId, gate: 'live', signal: leave.signal })) {
      approvals.take(event);
      await view.take(event);
      if (event.type === 'done') return;
    }
  } finally {
    undo();
    approvals.stop();
    view.stop();
  }
}
