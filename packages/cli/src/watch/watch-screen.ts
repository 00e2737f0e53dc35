import { currentRun } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { FullScreen } from '../terminal/full-screen.ts';
import { detectLook } from '../terminal/look.ts';
import { parseKeys } from '../terminal/parse-keys.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { onEndingSignal } from '../until-signal.ts';
import { carryOut } from './carry-out.ts';
import { drawWatch } from './draw-watch.ts';
import { followSession } from './follow-session.ts';
import { handleKey } from './handle-key.ts';
import { WatchModel } from './watch-model.ts';

export interface WatchScreenOptions {
  /** Ends when nothing runs any more. */
  readonly untilIdle: boolean;
}

/** The terminal view of a session. Resolves with the exit code when somebody leaves. */
export async function watchScreen(
  io: Io,
  api: ServerApi,
  sessionId: string,
  { untilIdle }: WatchScreenOptions,
): Promise<number> {
  await loadTextWidth();
  const look = detectLook(io);
  const model = new WatchModel(sessionId);
  const leave = new AbortController();
  let code: number = exitCode.ok;
  const finish = (result: number) => {
    code = result;
    leave.abort();
  };
  const screen = new FullScreen(io, (columns, rows) => drawWatch(model, look, columns, rows, io.timers.now()));

  const onKeys = (keys: string) => {
    for (const key of parseKeys(keys)) {
      const action = handleKey(model, key, io.timers.now());
      if (action?.type === 'quit') finish(action.isInterrupt ? exitCode.SIGINT : exitCode.ok);
      else if (action?.type === 'suspend') suspend();
      else if (action !== undefined) carryOut(io, api, model, action, () => screen.update());
    }
    screen.update();
  };
  let closeKeyboard: (() => void) | undefined;
  const suspend = () => {
    closeKeyboard?.();
    screen.suspend();
    closeKeyboard = io.openKeyboard(onKeys);
  };

  const undoSignals = onEndingSignal(io, (signal) => finish(exitCode[signal]));
  screen.start();
  closeKeyboard = io.openKeyboard(onKeys);
  const stopTicking = tick(io, model, screen);
  try {
    await followSession(api.connection, sessionId, {
      signal: leave.signal,
      onLink: (link, reason) => {
        model.link = link;
        model.linkReason = reason;
        screen.update();
      },
      onEvent: (event) => {
        model.take(event);
        screen.update();
      },
      isOver: () => untilIdle && currentRun(model.slots) === undefined,
    });
    // A session that is over can still be looked at.
    if (!untilIdle && !leave.signal.aborted)
      await new Promise((resolve) => leave.signal.addEventListener('abort', resolve));
  } finally {
    stopTicking();
    undoSignals();
    closeKeyboard?.();
    screen.stop();
  }
  return code;
}

/** Clocks run while somebody works. When nobody does, the screen is drawn once a second, which costs next to nothing. */
function tick(io: Io, model: WatchModel, screen: FullScreen): () => void {
  let cancel = () => {};
  const next = () => {
    screen.update();
    cancel = io.timers.after(currentRun(model.slots) === undefined ? 1_000 : 2 * limits.tickMs, next);
  };
  next();
  return () => cancel();
}
