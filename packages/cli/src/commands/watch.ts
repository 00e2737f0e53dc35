import { createSlots, currentRun, type FleetEvent, foldSlots, type SessionSlots } from '@fleetloom/protocol/fleet';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import { toEventLine } from '../fleet/event-line.ts';
import { LineLog } from '../fleet/log-line.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { detectLook } from '../terminal/look.ts';
import { type EndingSignal, onEndingSignal } from '../until-signal.ts';
import { UsageError } from '../usage-error.ts';
import { chooseSession } from '../watch/choose-session.ts';
import { type FollowSession, followSession } from '../watch/follow-session.ts';
import { writeText } from '../write-text.ts';

export interface WatchOptions extends ConnectionOptions {
  plain?: boolean;
  json?: boolean;
  once?: boolean;
  until?: 'idle';
}

/** `fleetloom watch`: all threads of a session, on the whole screen or line by line. */
export async function watch(io: Io, session: string | undefined, options: WatchOptions): Promise<number> {
  const modes = [options.plain, options.json, options.once].filter((mode) => mode === true).length;
  if (modes > 1) throw new UsageError('--plain, --json and --once exclude each other.', 'Leave all but one out.');
  const api = createServerApi(toConnection(io.env, options), limits.callMs, () => io.timers.now());
  const isScreen = modes === 0 && detectLook(io).live;
  const canChoose = isScreen && io.stdin.isTTY === true;
  const choice = session === undefined ? await chooseSession(io, api, canChoose) : { sessionId: session };
  if ('left' in choice) return choice.left === 'quit' ? exitCode.ok : exitCode[choice.left];
  const { sessionId: chosen } = choice;
  // What is wrong with the address, the key or the id is told before the screen is taken.
  await api.get(`/v1/sessions/${encodeURIComponent(chosen)}`);
  if (session === undefined && !isScreen) io.stderr.write(`fleetloom: watching ${chosen}\n`);
  if (!isScreen) return await print(io, api, chosen, options);
  const { watchScreen } = await import('../watch/watch-screen.ts');
  return await watchScreen(io, api, chosen, { untilIdle: options.until === 'idle' });
}

/** Without a screen: events, lines, or one picture of how it is. */
async function print(io: Io, api: ServerApi, session: string, options: WatchOptions): Promise<number> {
  if (options.once === true) return await printOnce(io, api, session);
  const { json, until } = options;
  const log = new LineLog(detectLook(io));
  let slots = createSlots({ textCharsMax: limits.lineCharsMax });
  const tell = (event: FleetEvent): string => {
    if (json === true) return toEventLine(io, event);
    return log
      .take(slots, event, slots.lastAt ?? io.timers.now())
      .map((line) => `${line}\n`)
      .join('');
  };
  const signal = await follow(io, api, session, {
    onEvent: async (event) => {
      slots = foldSlots(slots, event);
      const text = tell(event);
      // A slow reader slows down the reading, and the server waits.
      if (text !== '') await writeText(io.stdout, text);
    },
    isOver: () => until === 'idle' && currentRun(slots) === undefined,
  });
  return signal === undefined ? toExitCode(slots) : exitCode[signal];
}

/** Only what was waited for is judged: who leaves has not seen the end. */
function toExitCode({ runs }: SessionSlots): number {
  const state = runs.at(-1)?.state;
  return state === 'failed' || state === 'lost' ? exitCode.failed : exitCode.ok;
}

/** What is true now, and nothing about how it came to be. The exit code is the worst of it. */
async function printOnce(io: Io, api: ServerApi, session: string): Promise<number> {
  const [{ WatchModel }, { printSnapshot }, { readHealth }, { readFacts }, { worstState }] = await Promise.all([
    import('../watch/watch-model.ts'),
    import('../watch/print-snapshot.ts'),
    import('../watch/health-reader.ts'),
    import('../watch/session-facts.ts'),
    import('../watch/worst-state.ts'),
  ]);
  const model = new WatchModel(session, api.clock);
  const signal = await follow(io, api, session, { onEvent: (event) => model.take(event), isOver: () => true });
  if (signal !== undefined) return exitCode[signal];
  model.facts = await readFacts(api, session);
  const nowMs = api.clock.toServerTime(io.timers.now());
  if (model.hasStalled(nowMs)) model.health = await readHealth(api, session);
  await printSnapshot(io, model, nowMs);
  return worstState(model, nowMs);
}

/** Gives the signal that ended it, if one did. */
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
    if (link === 'waiting') io.stderr.write(`fleetloom: ${reason} Trying again.\n`);
  };
  try {
    await followSession(api.connection, session, { ...take, signal: leave.signal, onLink });
  } finally {
    undo();
  }
  return signal;
}
