import { openFleet } from '../../connection/open-fleet.ts';
import type { ServerApi } from '../../connection/server-api.ts';
import type { Io } from '../../base/io.ts';
import { limits } from '../../base/limits.ts';
import { Replay } from '../state/replay.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** Loads all events of the session and shows the replay at its end. The live view keeps updating in the background. */
export function loadReplay(io: Io, api: ServerApi, model: WatchModel, signal: AbortSignal, onChange: () => void): void {
  const replay = new Replay();
  model.replay = replay;
  model.scroll = 0;
  read(api, model, replay, signal, onChange)
    .then(() => {
      replay.isLoaded = true;
      if (replay.left > 0)
        model.say(`Only the first ${replay.length} events are loaded; ${replay.left} more follow.`, io.timers.now());
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
    // The user has left the replay.
    if (model.replay !== replay) return;
    replay.load(event);
    onChange();
  }
}
