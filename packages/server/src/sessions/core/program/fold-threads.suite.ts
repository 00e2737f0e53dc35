import { createManualClock } from '../../../base/clock.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { MAIN, type ProgramEvent } from '../../../engines/program/program.ts';
import type { NewSessionFrame } from '../../../frames/frames.ts';
import type { SessionState } from '../state/state.ts';
import { isDelta, ProgramDeltas } from '../../runtime/program/program-deltas.ts';

/** What the log and the fleet stream have of one thread. */
export interface FoldedThread {
  /** Whole blocks and calls, each as its kind and its text or id. */
  readonly blocks: string[];
  /** Ids of the events of whole blocks. */
  readonly ids: string[];
  /** The text of the thread as a fleet stream shows it: deltas as they come, and what is missing of a whole. */
  text: string;
}

/** What the log and the fleet stream of a session have of each thread after these events. */
export async function foldThreads(events: readonly ProgramEvent[]): Promise<ReadonlyMap<string, FoldedThread>> {
  const threads = new Map<string, FoldedThread>();
  const of = (key: string): FoldedThread => {
    const thread = threads.get(key) ?? { blocks: [], ids: [], text: '' };
    threads.set(key, thread);
    return thread;
  };
  const requests = new Map<string, string>();
  const grown = new Map<string, string>();
  let [nextId, nextRequest] = [0, 0];
  const clock = createManualClock();
  const deltas = new ProgramDeltas({
    state: toState(requests),
    rootId: MAIN,
    nextEventId: () => `sevt_${++nextId}`,
    clock,
    schedule: createManualSchedule(clock).schedule,
    writeDelta: async (frame: NewSessionFrame) => {
      if (frame.type !== 'delta.text' && frame.type !== 'delta.thinking') return;
      const { id, text } = frame.payload;
      grown.set(id, (grown.get(id) ?? '') + text);
      if (frame.type === 'delta.text') of(frame.threadId!).text += text;
    },
  });
  for (const event of events) {
    const { key } = event;
    if (event.type === 'request_started') requests.set(key, `start_${++nextRequest}`);
    if (event.type === 'request_ended') requests.delete(key);
    deltas.stopUnwanted();
    if (isDelta(event)) await deltas.take(event);
    if (event.type === 'call') of(key).blocks.push(`call ${event.callId}`);
    if (event.type !== 'block_ended') continue;
    const id = deltas.end(event) ?? `sevt_${++nextId}`;
    const { kind, text } = toSaid(event.content);
    of(key).blocks.push(`${kind} ${text}`);
    of(key).ids.push(id);
    if (kind === 'redacted') continue;
    if (!text.startsWith(grown.get(id) ?? '')) throw new Error(`the deltas of ${id} do not add up to its event`);
    if (kind === 'text') of(key).text += text.slice((grown.get(id) ?? '').length);
  }
  return threads;
}

function toSaid(content: Extract<ProgramEvent, { type: 'block_ended' }>['content']) {
  if (content.type === 'text') return { kind: 'text', text: content.text };
  if (content.type === 'thinking') return { kind: 'thinking', text: content.thinking };
  const data = content.type === 'opaque' ? content.raw['data'] : undefined;
  return { kind: 'redacted', text: typeof data === 'string' ? data : '' };
}

/** The part of a state that the delta writer reads: the threads, and the open request of each. */
function toState(requests: ReadonlyMap<string, string>): SessionState {
  const toThread = (key: string) => ({
    id: key,
    programKey: key === MAIN ? null : key,
    parentId: key === MAIN ? null : MAIN,
    status: 'running',
    turn: { streamId: 1, depth: 1, run: 'r', phase: { type: 'program', startId: requests.get(key) ?? null } },
  });
  const root = {
    ...toThread(MAIN),
    get turn() {
      return toThread(MAIN).turn;
    },
  };
  const threads = { get: () => root, values: () => [...requests.keys()].map(toThread) };
  return { threads } as unknown as SessionState;
}
