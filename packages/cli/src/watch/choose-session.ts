import type { Session } from '@fleetloom/protocol/managed-agents';
import { CommandError } from '../command-error.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import { toSessionCells } from '../fleet/session-cells.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { FullScreen } from '../terminal/full-screen.ts';
import { KeyReader } from '../terminal/key-reader.ts';
import { detectLook } from '../terminal/look.ts';
import { paintRow, type Row, span } from '../terminal/row.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { type EndingSignal, onEndingSignal } from '../until-signal.ts';
import { toColumn } from '../fleet/draw-threads.ts';

/** What came of it: a session, or how somebody left the list. */
export type Choice = { readonly sessionId: string } | { readonly left: 'quit' | EndingSignal };

/** The session that somebody chooses from a list, or how they left it. Without a keyboard the newest that runs is taken. */
export async function chooseSession(io: Io, api: ServerApi, canChoose: boolean): Promise<Choice> {
  const { data } = await api.get<{ readonly data: readonly Session[] }>('/v1/sessions', {
    limit: limits.sessionsListed,
  });
  const [newest] = data;
  if (newest === undefined) {
    throw new CommandError(exitCode.notFound, 'There are no sessions.', '"fleetloom run" makes one.');
  }
  if (!canChoose || data.length === 1) return { sessionId: ((await findRunning(api)) ?? newest).id };
  await loadTextWidth();
  return await chooseFrom(io, data, () => api.clock.toServerTime(io.timers.now()));
}

/** The newest that runs may be older than many that rest. */
async function findRunning(api: ServerApi): Promise<Session | undefined> {
  const query = { limit: 1, statuses: ['running', 'rescheduling'] };
  return (await api.get<{ readonly data: readonly Session[] }>('/v1/sessions', query)).data[0];
}

function chooseFrom(io: Io, sessions: readonly Session[], now: () => number): Promise<Choice> {
  const look = detectLook(io);
  let selected = 0;
  return new Promise((resolve) => {
    const screen = new FullScreen(io, (columns, rows) =>
      drawSessions(sessions, selected, rows, now()).map((row) => paintRow(row, Math.max(1, columns - 1), look)),
    );
    const end = (choice: Choice) => {
      keys.stop();
      closeKeyboard?.();
      undoSignals();
      screen.stop();
      resolve(choice);
    };
    // Before the screen is taken: a signal that came in between would leave it so.
    const undoSignals = onEndingSignal(io, (signal) => end({ left: signal }));
    screen.start();
    const keys = new KeyReader(io, (key) => {
      const typed = typeof key === 'object' ? key.typed : key;
      const chosen = sessions[selected];
      if (typed === 'interrupt') end({ left: 'SIGINT' });
      else if (typed === 'q' || typed === 'escape') end({ left: 'quit' });
      else if (typed === 'enter' && chosen !== undefined) end({ sessionId: chosen.id });
      else {
        const step = typed === 'down' || typed === 'j' ? 1 : typed === 'up' || typed === 'k' ? -1 : 0;
        selected = Math.max(0, Math.min(sessions.length - 1, selected + step));
        screen.update();
      }
    });
    const closeKeyboard = io.openKeyboard((text) => keys.push(text));
  });
}

function drawSessions(sessions: readonly Session[], selected: number, rows: number, nowMs: number): Row[] {
  const room = Math.max(1, rows - 3);
  const first = Math.max(0, Math.min(selected - Math.floor(room / 2), sessions.length - room));
  const shown = sessions.slice(first, first + room).map((session, index): Row => {
    const [id = '', status = '', agent = '', age = '', , title = ''] = toSessionCells(session, nowMs);
    const isSelected = first + index === selected;
    const mark = span(isSelected ? '> ' : '  ', 'brand');
    const state = span(`${toColumn(status, 12, '…')} `, status === 'running' ? 'writing' : 'dim');
    const said = `${toColumn(cleanLine(agent), 20, '…')} ${cleanLine(title)}`;
    return {
      left: [mark, span(`${id}  `, isSelected ? 'bold' : 'plain'), state, span(said)],
      right: [span(age, 'dim')],
    };
  });
  return [
    { left: [span(' fleetloom ', 'brand'), span('· choose a session', 'dim')], right: [] },
    ...shown,
    { left: [], right: [] },
    { left: [span(' Enter watch · j k choose · q quit', 'dim')], right: [] },
  ];
}
