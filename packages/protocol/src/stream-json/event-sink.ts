import type { AgentEvent, EventBody } from './events.ts';
import { limits } from './limits.ts';
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
    const known = this.drift.has(kind) || this.drift.size < limits.driftKindsMax;
    const name = known ? kind : 'other';
    this.drift.set(name, (this.drift.get(name) ?? 0) + 1);
  }
}
