import { defined } from './check.ts';
import type { AgentEvent, EventBody, ToolResult } from './events.ts';
import { DRIFT_KINDS_MAX } from './limits.ts';
import type { Thread } from './threads.ts';

/** Collects the events of one line, gives them their envelope and number, and counts what was not understood. */
export class EventSink {
  seq = 0;
  /** Time of the line that is being translated, where it has one. */
  ts: string | undefined;
  #events: AgentEvent[] = [];
  readonly drift = new Map<string, number>();

  /** Fields that are undefined are left out, so that an event carries only what is there. */
  emit(thread: Thread, body: Loose<EventBody>): void {
    const envelope = { seq: this.seq++, stream_id: thread.streamId, depth: thread.depth, thread: thread.key };
    // The cast is what `defined` does.
    this.#push({ ...envelope, ...defined(body) } as AgentEvent);
  }

  // The next four are nearly all of a stream. They are written out, because copying a body behind an envelope takes longer
  // than everything else that is done for them.

  delta(
    thread: Thread,
    type: 'text_delta' | 'thinking_delta',
    id: string | undefined,
    block: number,
    content: string,
  ): void {
    const { streamId: stream_id, depth, key } = thread;
    if (id === undefined) this.emit(thread, { type, block, content });
    else this.#push({ seq: this.seq++, stream_id, depth, thread: key, type, message_id: id, block, content });
  }

  toolInput(thread: Thread, id: string | undefined, block: number, toolUseId: string, content: string): void {
    const { streamId: stream_id, depth, key } = thread;
    const type = 'tool_input_delta';
    if (id === undefined) this.emit(thread, { type, block, toolUseId, content });
    else
      this.#push({ seq: this.seq++, stream_id, depth, thread: key, type, message_id: id, block, toolUseId, content });
  }

  toolUse(
    thread: Thread,
    id: string | undefined,
    block: number,
    toolUseId: string,
    toolName: string,
    input: unknown,
  ): void {
    const { streamId: stream_id, depth, key } = thread;
    const type = 'tool_use';
    if (id === undefined) return this.emit(thread, { type, block, toolUseId, toolName, input });
    const seq = this.seq++;
    this.#push({ seq, stream_id, depth, thread: key, type, message_id: id, block, toolUseId, toolName, input });
  }

  toolResult(thread: Thread, { toolUseId, output, isError, content, structured }: Omit<ToolResult, 'type'>): void {
    const { streamId: stream_id, depth, key } = thread;
    const type = 'tool_result';
    const seq = this.seq++;
    const event: AgentEvent =
      content === undefined
        ? { seq, stream_id, depth, thread: key, type, toolUseId, output, isError }
        : { seq, stream_id, depth, thread: key, type, toolUseId, output, isError, content };
    if (structured !== undefined) event.structured = structured;
    this.#push(event);
  }

  #push(event: AgentEvent): void {
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

/** The same with every optional field also undefined, member by member of a union. */
type Loose<T> = T extends unknown
  ? { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] | Absent<T, K> }
  : never;

type Absent<T, K extends keyof T> = {} extends Pick<T, K> ? undefined : never;
