import { openFleet } from '../connection/open-fleet.ts';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { Replay } from './replay.ts';
import type { WatchModel } from './watch-model.ts';

/** Reads all that has happened, and shows it as it was at its end. The present goes on meanwhile, unseen. */
export function loadReplay(io: Io, api: ServerApi, model: WatchModel, signal: AbortSignal, onChange: () => void): void {
  const replay = new Replay();
  model.replay = replay;
  model.scroll = 0;
  read(api, model, replay, signal, onChange)
    .then(() => {
      replay.isLoaded = true;
      if (replay.left > 0)
        model.say(`Only the first ${replay.length} events; ${replay.left} more came after.`, io.timers.now());
    })
    .catch((error: unknown) => {
      if (model.replay === replay) model.replay = undefined;
      model.say(error instanceof Error ? error.message : String(error), io.timers.now());
    })
    .finally(onChange);
}

async function read(
  api: ServerApi,
  model: WatchModel,
  replay: Replay,
  signal: AbortSignal,
  onChange: () => void,
): Promise<void> {
  const events = openFleet(api.connection, {
    session: model.sessionId,
    follow: false,
    gate: 'live',
    include: ['thinking'],
    signal,
    retriesMax: limits.runRetriesMax,
  });
  for await (const event of events) {
    // Somebody has gone back to the present.
    if (model.replay !== replay) return;
    replay.load(event);
    onChange();
  }
}
