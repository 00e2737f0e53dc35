import type { AgentEvent, EventBody } from './events.ts';
import { DRIFT_KINDS_MAX } from './limits.ts';
import type { Thread } from './threads.ts';

/** Collects the events of one line, gives them their envelope and number, and counts what was not understood. */
export class EventSink {
  seq = 0;
  /** Time of the line that is being translated, where it has one. */
  ts: string | undefined;
  #events: AgentEvent[] = [];
  readonly drift = new Map<string, number>();

  emit(thread: Thread, body: EventBody): void {
    const event: AgentEvent = {
      seq: this.seq++,
      stream_id: thread.streamId,
      depth: thread.depth,
      thread: thread.key,
      ...body,
    };
    if (this.ts !== undefined) event.ts = this.ts;
    this.#events.push(event);
  }

  /**
   * As `emit`, for the events that are nearly all of a stream: written out, because copying a body into an envelope takes
   * longer than everything else that is done for a delta.
   */
  delta(
    thread: Thread,
    type: 'text_delta' | 'thinking_delta',
    id: string | undefined,
    block: number,
    content: string,
  ): void {
    const event: AgentEvent =
      id === undefined
        ? {
            seq: this.seq++,
            stream_id: thread.streamId,
            depth: thread.depth,
            thread: thread.key,
            type,
            block,
            content,
          }
        : {
            seq: this.seq++,
            stream_id: thread.streamId,
            depth: thread.depth,
            thread: thread.key,
            type,
            message_id: id,
            block,
            content,
          };
    if (this.ts !== undefined) event.ts = this.ts;
    this.#events.push(event);
  }

  take(): AgentEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Passes on what is known but not interpreted. */
  raw(thread: Thread, kind: string, value: unknown): void {
    this.emit(thread, { type: 'raw', kind, value });
  }

  count(kind: string): void {
    const known = this.drift.has(kind) || this.drift.size < DRIFT_KINDS_MAX;
    const name = known ? kind : 'other';
    this.drift.set(name, (this.drift.get(name) ?? 0) + 1);
  }
}
