import { currentRun } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { FullScreen } from '../terminal/full-screen.ts';
import { KeyReader } from '../terminal/key-reader.ts';
import { detectLook } from '../terminal/look.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { onEndingSignal } from '../base/until-signal.ts';
import { runAction } from './data/run-action.ts';
import { drawWatch } from './draw/draw-watch.ts';
import { FactsReader } from './data/facts-reader.ts';
import { followSession } from './data/follow-session.ts';
import { handleKey } from './input/handle-key.ts';
import { HealthReader } from './data/health-reader.ts';
import { loadReplay } from './data/load-replay.ts';
import { WatchModel } from './state/watch-model.ts';

export interface WatchScreenOptions {
  /** Whether to exit when every thread is idle. */
  readonly untilIdle: boolean;
  /** Whether Esc leads back to a list of sessions. */
  readonly canGoBack?: boolean;
}

/** The terminal view of a session. Resolves with the exit code when the user quits, or with `back`. */
export async function watchScreen(
  io: Io,
  api: ServerApi,
  sessionId: string,
  { untilIdle, canGoBack = false }: WatchScreenOptions,
): Promise<number | 'back'> {
  await loadTextWidth();
  const look = detectLook(io);
  const model = new WatchModel(sessionId, api.clock);
  model.canGoBack = canGoBack;
  const leave = new AbortController();
  let code: number | 'back' = exitCode.ok;
  const finish = (result: number | 'back') => {
    code = result;
    keys.stop();
    leave.abort();
  };
  const screen = new FullScreen(io, (columns, rows) => drawWatch(model, look, columns, rows, io.timers.now()));
  const update = () => screen.update();
  const facts = new FactsReader(io, api, model, update);
  const health = new HealthReader(io, api, model, update);

  const keys = new KeyReader(io, (key) => {
    const action = handleKey(model, key, io.timers.now());
    if (action?.type === 'quit') finish(action.isInterrupt ? exitCode.SIGINT : exitCode.ok);
    else if (action?.type === 'back') finish('back');
    else if (action?.type === 'suspend') suspend();
    else if (action?.type === 'replay') loadReplay(io, api, model, leave.signal, update);
    else if (action !== undefined) runAction(io, api, model, action, update);
    update();
  });
  const onKeys = (text: string) => keys.push(text);
  let closeKeyboard: (() => void) | undefined;
  const suspend = () => {
    closeKeyboard?.();
    screen.suspend();
    closeKeyboard = io.openKeyboard(onKeys);
  };

  // Registered before the alternate screen is entered: a signal in between would leave the terminal on it.
  const undoSignals = onEndingSignal(io, (signal) => finish(exitCode[signal]));
  screen.start();
  closeKeyboard = io.openKeyboard(onKeys);
  const stopTicking = tick(io, model, screen, health);
  try {
    await followSession(api.connection, sessionId, {
      signal: leave.signal,
      onLink: (link, reason) => {
        model.link = link;
        model.linkReason = reason;
        if (link === 'waiting') model.catchUp.lost();
        else model.catchUp.found(model.serverTime(io.timers.now()), model.seen.slots.gapCount);
        facts.read();
        update();
      },
      onEvent: (event) => {
        // Latency is meaningless for history.
        model.take(event, model.link === 'live' ? io.timers.now() : undefined);
        if (event.type === 'stream_start') facts.read();
        if (event.type === 'approval_required') {
          const pendingCalls = model.ruled(io.timers.now());
          if (pendingCalls.length > 0)
            runAction(io, api, model, { type: 'answer', pendingCalls, result: 'allow' }, update);
        }
        // While history loads, only the clock is redrawn.
        if (model.link !== 'loading') update();
      },
      isOver: () => untilIdle && currentRun(model.seen.slots) === undefined,
    });
    // An ended session can still be viewed.
    if (!untilIdle && !leave.signal.aborted)
      await new Promise((resolve) => leave.signal.addEventListener('abort', resolve));
    else if (!leave.signal.aborted) code = isFailed(model) ? exitCode.failed : exitCode.ok;
  } finally {
    leave.abort();
    facts.stop();
    health.stop();
    keys.stop();
    stopTicking();
    undoSignals();
    closeKeyboard?.();
    screen.stop();
  }
  return code;
}

function isFailed({ seen }: WatchModel): boolean {
  const state = seen.slots.runs.at(-1)?.state;
  return state === 'failed' || state === 'lost';
}

/** Redraws often while a thread is running, otherwise once per second. */
function tick(io: Io, model: WatchModel, screen: FullScreen, health: HealthReader): () => void {
  let cancel = () => {};
  const next = () => {
    const nowMs = io.timers.now();
    const caughtUp = model.catchUp.report(model.serverTime(nowMs), model.seen.slots.gapCount);
    if (caughtUp !== undefined) model.say(caughtUp, nowMs);
    health.look();
    screen.update();
    const isMoving = currentRun(model.seen.slots) !== undefined || model.link !== 'live';
    cancel = io.timers.after(isMoving ? 2 * limits.tickMs : 1_000, next);
  };
  next();
  return () => cancel();
}
