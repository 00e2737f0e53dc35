import { createSlots, currentRun, type FleetEvent, foldSlots, type SessionSlots } from '@fleetloom/protocol/fleet';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import { toEventLine } from '../fleet/event-line.ts';
import { LineLog } from '../fleet/log-line.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { detectLook } from '../terminal/look.ts';
import { type EndingSignal, onEndingSignal } from '../base/until-signal.ts';
import { UsageError } from '../base/usage-error.ts';
import { chooseSession } from './choose-session.ts';
import { SessionList } from './session-list.ts';
import type { WatchModel } from './state/watch-model.ts';
import { type FollowSession, followSession } from './data/follow-session.ts';
import { writeText } from '../base/write-text.ts';

export interface WatchOptions extends ConnectionOptions {
  plain?: boolean;
  json?: boolean;
  once?: boolean;
  until?: 'idle';
}

/** `fleetloom watch`: shows the threads of a session, full-screen or line by line. */
export async function watch(io: Io, session: string | undefined, options: WatchOptions): Promise<number> {
  const modes = [options.plain, options.json, options.once].filter((mode) => mode === true).length;
  if (modes > 1) throw new UsageError('--plain, --json and --once cannot be combined.', 'Pass only one of them.');
  const api = createServerApi(toConnection(io.env, options), limits.callMs, () => io.timers.now());
  const isScreen = modes === 0 && detectLook(io).live;
  const canChoose = isScreen && io.stdin.isTTY === true;
  const canGoBack = session === undefined && canChoose;
  const list = new SessionList();
  for (;;) {
    const choice = session === undefined ? await chooseSession(io, api, { canChoose, list }) : { sessionId: session };
    if ('left' in choice) return choice.left === 'quit' ? exitCode.ok : exitCode[choice.left];
    const { sessionId: chosen } = choice;
    // URL, key and id are checked before the alternate screen is entered.
    await api.get(`/v1/sessions/${encodeURIComponent(chosen)}`);
    if (session === undefined && !isScreen) io.stderr.write(`fleetloom: watching ${chosen}\n`);
    if (!isScreen) return await print(io, api, chosen, options);
    const { watchScreen } = await import('./watch-screen.ts');
    const left = await watchScreen(io, api, chosen, { untilIdle: options.until === 'idle', canGoBack });
    if (left !== 'back') return left;
  }
}

/** Without the full-screen view: events, lines, or one snapshot. */
async function print(io: Io, api: ServerApi, session: string, options: WatchOptions): Promise<number> {
  if (options.once === true) return await printOnce(io, api, session);
  const { json, until } = options;
  const log = new LineLog(detectLook(io));
  let slots = createSlots({ textCharsMax: limits.lineCharsMax });
  const toText = (event: FleetEvent): string => {
    if (json === true) return toEventLine(io, event);
    return log
      .take(slots, event, slots.lastAt ?? io.timers.now())
      .map((line) => `${line}\n`)
      .join('');
  };
  const signal = await follow(io, api, session, {
    onEvent: async (event) => {
      slots = foldSlots(slots, event);
      const text = toText(event);
      // A slow reader slows down the stream.
      if (text !== '') await writeText(io.stdout, text);
    },
    isOver: () => until === 'idle' && currentRun(slots) === undefined,
  });
  return signal === undefined ? toExitCode(slots) : exitCode[signal];
}

/** The exit code of the newest run. It counts only with --until, because a user who quits has not seen the end. */
function toExitCode({ runs }: SessionSlots): number {
  const state = runs.at(-1)?.state;
  return state === 'failed' || state === 'lost' ? exitCode.failed : exitCode.ok;
}

/** Prints the current state. The exit code is the most urgent state. */
async function printOnce(io: Io, api: ServerApi, session: string): Promise<number> {
  const [{ printSnapshot }, { worstState }] = await Promise.all([
    import('./print-snapshot.ts'),
    import('./state/worst-state.ts'),
  ]);
  const found = await readPresent(io, api, session);
  if (typeof found === 'string') return exitCode[found];
  await printSnapshot(io, found.model, found.nowMs);
  return worstState(found.model, found.nowMs);
}

/** Reads the current state of a session and the server's time; returns the signal if one ended the reading. */
export async function readPresent(
  io: Io,
  api: ServerApi,
  session: string,
): Promise<{ readonly model: WatchModel; readonly nowMs: number } | EndingSignal> {
  const [{ WatchModel }, { readHealth }, { readFacts }] = await Promise.all([
    import('./state/watch-model.ts'),
    import('./data/health-reader.ts'),
    import('./state/session-facts.ts'),
  ]);
  const model = new WatchModel(session, api.clock);
  const signal = await follow(io, api, session, { onEvent: (event) => model.take(event), isOver: () => true });
  if (signal !== undefined) return signal;
  model.facts = await readFacts(api, session);
  const nowMs = api.clock.toServerTime(io.timers.now());
  if (model.hasStalled(nowMs)) model.health = await readHealth(api, session);
  return { model, nowMs };
}

/** Follows a session. Returns the signal that ended it, if any. */
async function follow(
  io: Io,
  api: ServerApi,
  session: string,
  take: Pick<FollowSession, 'onEvent' | 'isOver'>,
): Promise<EndingSignal | undefined> {
  const leave = new AbortController();
  let signal: EndingSignal | undefined;
  const undo = onEndingSignal(io, (name) => {
    signal = name;
    leave.abort();
  });
  const onLink: FollowSession['onLink'] = (link, reason) => {
    if (link === 'waiting') io.stderr.write(`fleetloom: ${reason} Reconnecting.\n`);
  };
  try {
    await followSession(api.connection, session, { ...take, signal: leave.signal, onLink });
  } finally {
    undo();
  }
  return signal;
}
