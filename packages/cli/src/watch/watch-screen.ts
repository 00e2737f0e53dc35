import { currentRun } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { FullScreen } from '../terminal/full-screen.ts';
import { KeyReader } from '../terminal/key-reader.ts';
import { detectLook } from '../terminal/look.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { onEndingSignal } from '../until-signal.ts';
import { carryOut } from './carry-out.ts';
import { drawWatch } from './draw-watch.ts';
import { FactsReader } from './facts-reader.ts';
import { followSession } from './follow-session.ts';
import { handleKey } from './handle-key.ts';
import { HealthReader } from './health-reader.ts';
import { loadReplay } from './load-replay.ts';
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
  const model = new WatchModel(sessionId, api.clock);
  const leave = new AbortController();
  let code: number = exitCode.ok;
  const finish = (result: number) => {
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
    else if (action?.type === 'suspend') suspend();
    else if (action?.type === 'replay') loadReplay(io, api, model, leave.signal, update);
    else if (action !== undefined) carryOut(io, api, model, action, update);
    update();
  });
  const onKeys = (text: string) => keys.push(text);
  let closeKeyboard: (() => void) | undefined;
  const suspend = () => {
    closeKeyboard?.();
    screen.suspend();
    closeKeyboard = io.openKeyboard(onKeys);
  };

  // Before the screen is taken: a signal that came in between would leave it so.
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
        // How late the past comes says nothing.
        model.take(event, model.link === 'live' ? io.timers.now() : undefined);
        if (event.type === 'stream_start') facts.read();
        if (event.type === 'approval_required') {
          const asks = model.ruled(io.timers.now());
          if (asks.length > 0) carryOut(io, api, model, { type: 'answer', asks, result: 'allow' }, update);
        }
        // The past is read as fast as it comes; the clock shows that it does.
        if (model.link !== 'loading') update();
      },
      isOver: () => untilIdle && currentRun(model.seen.slots) === undefined,
    });
    // A session that is over can still be looked at.
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

/** Clocks run while somebody works. When nobody does, the screen is drawn once a second, which costs next to nothing. */
function tick(io: Io, model: WatchModel, screen: FullScreen, health: HealthReader): () => void {
  let cancel = () => {};
  const next = () => {
    const nowMs = io.timers.now();
    const caughtUp = model.catchUp.tell(model.serverTime(nowMs), model.seen.slots.gapCount);
    if (caughtUp !== undefined) model.say(caughtUp, nowMs);
    health.look();
    screen.update();
    const isMoving = currentRun(model.seen.slots) !== undefined || model.link !== 'live';
    cancel = io.timers.after(isMoving ? 2 * limits.tickMs : 1_000, next);
  };
  next();
  return () => cancel();
}
