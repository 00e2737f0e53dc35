import type { DeltaType, PreviewEvent, StreamEvent } from '@fleetloom/protocol/managed-agents';
import { type SessionFrame, toSessionFrame } from '../../frames/frames.ts';
import type { SessionLog } from '../../log/log.ts';
import { type Place, toEvent } from './to-event.ts';

/** The events of a session or thread from a frame on. */
export interface WatchEvents {
  readonly log: Pick<SessionLog, 'tail'>;
  readonly sessionId: string;
  readonly place: Place;
  /** The `seq` of the last frame that the reader knows. */
  readonly after: number;
  /** The block types whose deltas the reader asked for. */
  readonly previews: ReadonlySet<DeltaType>;
  readonly signal: AbortSignal;
}

/** The events of one batch of frames. */
export interface WatchedEvents {
  readonly events: readonly StreamEvent[];
  /** The `seq` of the last idle status among the events, if there is one. */
  readonly restSeq: number | null;
}

/** The events of a session or thread, in batches. It ends with the session or thread, or when the signal aborts. */
export async function* watchEvents(request: WatchEvents): AsyncGenerator<WatchedEvents, 'ended' | 'deleted'> {
  const { log, sessionId, after, signal, place } = request;
  const previews = new Previews(request.previews);
  const tail = log.tail({ sessionId, after, signal, skipsDeltas: request.previews.size === 0 });
  try {
    while (true) {
      const step = await tail.next();
      if (step.done === true) return step.value === 'deleted' ? 'deleted' : 'ended';
      const events: StreamEvent[] = [];
      let restSeq: number | null = null;
      for (const entry of step.value) {
        if (entry.kind === 'pruned') continue;
        const frame = toSessionFrame(entry.value);
        const isOwn = (frame.threadId ?? place.primaryId) === place.threadId;
        const event = (isOwn ? previews.take(frame) : undefined) ?? toEvent(frame, place);
        if (event === undefined) continue;
        events.push(event);
        if (event.type === 'session.status_idle') restSeq = frame.seq;
        if (isEnd(event, place)) {
          yield { events, restSeq };
          return 'ended';
        }
      }
      if (events.length > 0) yield { events, restSeq };
    }
  } finally {
    // After the last event the tail is not read again, and would stay open.
    await tail.return();
  }
}

/** Whether an event is the last one: the end of the session or of the watched thread. */
function isEnd(event: StreamEvent, { threadId, primaryId }: Place): boolean {
  if (event.type === 'session.status_terminated') return true;
  return threadId !== primaryId && event.type === 'session.thread_status_terminated';
}

/**
 * Deltas, for readers that asked for them. Only deltas of requests that began while the reader was connected: the SDK's accumulator cannot
 * start in the middle of a text.
 */
class Previews {
  readonly #wanted: ReadonlySet<DeltaType>;
  #isRequestSeen = false;
  readonly #open = new Set<string>();

  constructor(wanted: ReadonlySet<DeltaType>) {
    this.#wanted = wanted;
  }

  take(frame: SessionFrame): PreviewEvent | undefined {
    const { type, payload } = frame;
    if (type === 'span.model_request_start') this.#isRequestSeen = payload.purpose === 'turn';
    else if (type === 'span.model_request_end') this.#open.clear();
    else if (type === 'delta.started') return this.#start(payload.id, toEventType(payload.block));
    else if (type === 'delta.text' && this.#open.has(payload.id)) return toDelta(payload.id, payload.text);
    return undefined;
  }

  #start(id: string, type: DeltaType): PreviewEvent | undefined {
    if (!this.#isRequestSeen || !this.#wanted.has(type)) return undefined;
    if (type === 'agent.message') this.#open.add(id);
    return { type: 'event_start', event: { type, id } };
  }
}

function toEventType(block: 'text' | 'thinking'): DeltaType {
  return block === 'text' ? 'agent.message' : 'agent.thinking';
}

function toDelta(id: string, text: string): PreviewEvent {
  return {
    type: 'event_delta',
    event_id: id,
    delta: { type: 'content_delta', index: 0, content: { type: 'text', text } },
  };
}
