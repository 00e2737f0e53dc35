import { storeLimits } from '../../../store/limits.ts';
import { yieldToEventLoop } from '../../../base/yield-to-event-loop.ts';
import type { Message } from '../../../base/content.ts';
import type { SeenCommand, SeenCommands } from './seen-commands.ts';
import type { Answer, Call, SessionState, ThreadState } from './state.ts';

/**
 * The checkpoint kind of session states, with the version of their format. Increase the version whenever `evolve` folds a log
 * to a different state or `SessionState` changes: older checkpoints are then ignored, and states are folded from the log.
 */
export const STATE_CHECKPOINT = 'session/7';

/**
 * A state as bytes: one line of JSON for the session, one per thread and one per message of a thread's history, so that it is
 * encoded and decoded over many turns of the event loop. Undefined if it exceeds the size limit of checkpoints.
 */
export async function encodeState(state: SessionState): Promise<Uint8Array | undefined> {
  const lines: Buffer[] = [];
  let bytes = 0;
  for (const value of toLines(state)) {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    lines.push(line);
    bytes += line.length;
    if (bytes > storeLimits.checkpointBytesMax) return undefined;
    await yieldToEventLoop();
  }
  return Buffer.concat(lines);
}

/** The caller must not change the state until all lines are made. */
function* toLines({ threads, agent, ...session }: SessionState): Generator<object> {
  // Almost always the agent is the one the session was created with, and it is large.
  const isSame = agent === session.created.agent;
  yield { ...session, ...(isSame ? {} : { agent }), threads: threads.size } satisfies SavedSession;
  for (const { history, calls, seen, ...thread } of threads.values()) {
    const saved = { calls: [...calls.values()].map(saveCall), seen: saveSeen(seen), history: history.length };
    yield { ...thread, ...saved } satisfies SavedThread;
    yield* history;
  }
}

/** Restores a state that `encodeState` has written. */
export async function decodeState(bytes: Uint8Array): Promise<SessionState> {
  const lines = new Lines(bytes);
  const { threads: count, ...session } = lines.next() as SavedSession;
  const threads = new Map<string, ThreadState>();
  while (threads.size < count) {
    const { calls, seen, history: messages, ...thread } = lines.next() as SavedThread;
    const history: Message[] = [];
    while (history.length < messages) {
      history.push(lines.next() as Message);
      await yieldToEventLoop();
    }
    const restored = calls.map((call): [string, Call] => [call.id, restoreCall(call)]);
    threads.set(thread.id, { ...thread, history, calls: new Map(restored), seen: restoreSeen(seen) });
    await yieldToEventLoop();
  }
  return { agent: session.created.agent, ...session, threads };
}

type SavedSession = Omit<SessionState, 'threads' | 'agent'> & {
  readonly agent?: SessionState['agent'];
  readonly threads: number;
};

type SavedThread = Omit<ThreadState, 'history' | 'calls' | 'seen'> & {
  readonly calls: readonly SavedCall[];
  readonly seen: SavedSeen | null;
  readonly history: number;
};

type SavedCall = Omit<Call, 'answers' | 'children'> & {
  readonly answers: readonly (readonly [number, Answer])[];
  readonly children: readonly (readonly [number, string])[];
};

function saveCall({ answers, children, ...call }: Call): SavedCall {
  return { ...call, answers: [...answers], children: [...children] };
}

function restoreCall({ answers, children, ...call }: SavedCall): Call {
  return { ...call, answers: new Map(answers), children: new Map(children) };
}

type SavedSeen = Omit<SeenCommands, 'commands'> & {
  readonly commands: readonly (readonly [string, SeenCommand])[];
};

function saveSeen(seen: SeenCommands | null): SavedSeen | null {
  return seen === null ? null : { ...seen, commands: [...seen.commands] };
}

function restoreSeen(seen: SavedSeen | null): SeenCommands | null {
  return seen === null ? null : { ...seen, commands: new Map(seen.commands) };
}

/** Lines of JSON, one at a time. Only `encodeState` writes them, so the form of each is known. */
class Lines {
  readonly #bytes: Buffer;
  #at = 0;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength);
  }

  next(): unknown {
    const end = this.#bytes.indexOf('\n', this.#at);
    const line = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return JSON.parse(line);
  }
}
