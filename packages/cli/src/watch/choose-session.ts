import type { FleetSession, FleetSessionList } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { type EndingSignal, onEndingSignal } from '../base/until-signal.ts';
import { openFleet } from '../connection/open-fleet.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { FullScreen } from '../terminal/full-screen.ts';
import { KeyReader } from '../terminal/key-reader.ts';
import { detectLook } from '../terminal/look.ts';
import { paintRow } from '../terminal/row.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { type ListAction, SessionList } from './session-list.ts';

/** A chosen session, or how the user left the list. */
export type Choice = { readonly sessionId: string } | { readonly left: 'quit' | EndingSignal };

/**
 * Lets the user choose a session from the list of all sessions, which stays current. `list` keeps the selection and the search until
 * the user returns to it. Without a keyboard, takes the newest running session.
 */
export async function chooseSession(
  io: Io,
  api: ServerApi,
  { canChoose, list }: { readonly canChoose: boolean; readonly list: SessionList },
): Promise<Choice> {
  if (!canChoose) return { sessionId: (await findNewest(api)).id };
  await loadTextWidth();
  // The URL and the key are checked before the alternate screen is entered.
  list.page = await readList(api, list);
  return await chooseFrom(io, api, list);
}

/** The newest session at work, else the newest one. A running session may be older than many ended sessions. */
async function findNewest(api: ServerApi): Promise<FleetSession> {
  const read = async (status?: readonly string[]) =>
    (await api.get<FleetSessionList>('/v1/fleet/sessions', { sort: 'created', limit: 1, status })).data[0];
  const found = (await read(['running', 'needs_you', 'stalled'])) ?? (await read());
  if (found !== undefined) return found;
  throw new CommandError(exitCode.notFound, 'There are no sessions.', 'Create one with "fleetloom run".');
}

async function readList(api: ServerApi, { query, isByAttention }: SessionList): Promise<FleetSessionList> {
  const q = query === '' ? undefined : query;
  const sort = isByAttention ? 'state' : undefined;
  return await api.get<FleetSessionList>('/v1/fleet/sessions', { q, sort, limit: limits.sessionRowsMax });
}

async function chooseFrom(io: Io, api: ServerApi, list: SessionList): Promise<Choice> {
  const look = detectLook(io);
  const leave = new AbortController();
  const now = () => api.clock.toServerTime(io.timers.now());
  const screen = new FullScreen(io, (columns, rows) =>
    list.draw(rows, now(), look.glyphs).map((row) => paintRow(row, Math.max(1, columns - 1), look)),
  );
  const note = (error: unknown) => {
    if (leave.signal.aborted) return;
    list.notice = error instanceof Error ? cleanLine(error.message) : String(error);
    screen.update();
  };
  const reload = () =>
    void readList(api, list).then((page) => {
      list.page = page;
      screen.update();
    }, note);
  return await new Promise((resolve) => {
    const end = (choice: Choice) => {
      leave.abort();
      keys.stop();
      closeKeyboard?.();
      undoSignals();
      stopTicking();
      screen.stop();
      resolve(choice);
    };
    const act = (action: ListAction | undefined) => {
      if (action?.type === 'open') return end({ sessionId: action.sessionId });
      if (action?.type === 'quit') return end({ left: action.isInterrupt ? 'SIGINT' : 'quit' });
      if (action?.type === 'search') reload();
      else if (action?.type === 'jump')
        void findFirst(api, action.text).then((found) => jump(action.text, found), note);
      screen.update();
    };
    const jump = (text: string, found: FleetSession | undefined) => {
      if (leave.signal.aborted) return;
      if (found !== undefined) return end({ sessionId: found.id });
      list.notice = `No session matches "${cleanLine(text)}".`;
      screen.update();
    };
    // Registered before the alternate screen is entered: a signal in between would leave the terminal on it.
    const undoSignals = onEndingSignal(io, (signal) => end({ left: signal }));
    screen.start();
    const keys = new KeyReader(io, (key) => act(list.take(key)));
    const closeKeyboard = io.openKeyboard((text) => keys.push(text));
    const stopTicking = tick(io, screen);
    void follow(api, leave.signal, reload).catch(note);
  });
}

/** Reads the list again whenever the server reports that rows have changed, and after every reconnect. */
async function follow(api: ServerApi, signal: AbortSignal, onChange: () => void): Promise<void> {
  const options = { from: 'live', include: ['sessions'], signal } as const;
  let connections = 0;
  const events = openFleet(api.connection, {
    ...options,
    onConnection: ({ type }) => {
      if (type === 'open' && connections++ > 0) onChange();
    },
  });
  for await (const { type } of events) if (type === 'sessions_changed') onChange();
}

async function findFirst(api: ServerApi, text: string): Promise<FleetSession | undefined> {
  const query = { q: text, archived: 'true', limit: 1 };
  return (await api.get<FleetSessionList>('/v1/fleet/sessions', query)).data[0];
}

/** Redraws as time passes, because the list shows ages and stalls. */
function tick(io: Io, screen: FullScreen): () => void {
  let cancel = () => {};
  const next = () => {
    screen.update();
    cancel = io.timers.after(1_000, next);
  };
  cancel = io.timers.after(1_000, next);
  return () => cancel();
}
