import { openFleet } from '../connection/open-fleet.ts';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../io.ts';
import { answerAsks } from '../run/answer-asks.ts';
import type { Listening } from '../run/asked.ts';
import { createTextView } from '../run/run-view.ts';

/** Shows the demo in the terminal while it runs, and lets who sits there answer. Ends with it, or when somebody asks. */
export async function watchDemo(io: Io, api: ServerApi, sessionId: string, ended: Listening): Promise<void> {
  const leave = new AbortController();
  const undo = ended.onAsk(() => leave.abort());
  const asks = answerAsks(io, {
    api,
    sessionId,
    mode: 'ask',
    // The dashboard can answer too.
    isOwn: false,
    onNote: (text) => view.note(text),
    onInterrupt: () => ended.ask('SIGINT'),
  });
  const view = await createTextView(
    io,
    () => asks.isOpen,
    () => io.timers.now(),
  );
  try {
    for await (const event of openFleet(api.connection, { session: sessionId, gate: 'live', signal: leave.signal })) {
      asks.take(event);
      await view.take(event);
      if (event.type === 'done') return;
    }
  } finally {
    undo();
    asks.stop();
    view.stop();
  }
}
