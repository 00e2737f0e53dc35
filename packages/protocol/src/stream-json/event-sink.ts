import { defined } from './check.ts';
import type { AgentEvent, EventBody, ToolResult } from './events.ts';
import { DRIFT_KINDS_MAX } from './limits.ts';
import { keepLast } from './recent-map.ts';
import { shortName } from './text-mark.ts';
import type { Thread } from './threads.ts';

/** Collects the events of one line, gives them their envelope and number, and counts what was not understood. */
export class EventSink {
  seq = 0;
  /** Time of the line that is being translated, where it has one. */
  ts: string | undefined;
  #events: AgentEvent[] = [];
  drift = new Map<string, number>();

  /** Fields that are undefined are left out, so that an event carries only what is there. */
  emit(thread: Thread, body: Loose<EventBody>): void {
    const { streamId: stream_id, depth, key } = thread.self;
    this.#push({ seq: this.seq++, stream_id, depth, thread: key, ...body }, false);
  }

  // The next four are nearly all of a stream. They are written out, because copying a body behind an envelope takes longer
  // than everything else that is done for them.

  delta(thread: Thread, type: 'text_delta' | 'thinking_delta', id: Id, block: number, content: string): void {
    const { streamId: stream_id, depth, key } = thread;
    const seq = this.seq++;
    this.#push({ seq, stream_id, depth, thread: key, type, message_id: id, block, content }, id !== undefined);
  }

  toolInput(thread: Thread, id: Id, block: number, toolUseId: string, content: string): void {
    const { streamId: stream_id, depth, key } = thread;
    const type = 'tool_input_delta';
    const seq = this.seq++;
    this.#push(
      { seq, stream_id, depth, thread: key, type, message_id: id, block, toolUseId, content },
      id !== undefined,
    );
  }

  toolUse(thread: Thread, id: Id, block: number, toolUseId: string, toolName: string, input: unknown): void {
    const { streamId: stream_id, depth, key } = thread;
    const type = 'tool_use';
    const seq = this.seq++;
    const event = {
      seq,
      stream_id,
      depth,
      thread: key,
      type,
      message_id: id,
      block,
      toolUseId,
      toolName,
      input,
    } as const;
    this.#push(event, id !== undefined);
  }

  toolResult(thread: Thread, { toolUseId, output, isError, content, structured }: Omit<ToolResult, 'type'>): void {
    const { streamId: stream_id, depth, key } = thread;
    const type = 'tool_result';
    const event = {
      seq: this.seq++,
      stream_id,
      depth,
      thread: key,
      type,
      toolUseId,
      output,
      isError,
      content,
    } as const;
    if (structured === undefined) this.#push(event, content !== undefined);
    else this.#push({ ...event, structured }, false);
  }

  /** `isWhole`: no field is undefined. */
  #push(event: Loose<AgentEvent>, isWhole: boolean): void {
    // The cast is what `defined` does, and what `isWhole` says.
    const whole = (isWhole ? event : defined(event)) as AgentEvent;
    if (this.ts !== undefined) whole.ts = this.ts;
    this.#events.push(whole);
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

  /** Passes on what is news, and counts it. */
  unknown(thread: Thread, kind: string, value: unknown): void {
    this.count(kind);
    this.raw(thread, kind, value);
  }

  /** Puts an item at the end of a list that has a limit. Whether the first had to go, which is counted. */
  keepLast<T>(list: T[], item: T, max: number, kind: string): boolean {
    const isFull = keepLast(list, item, max) !== undefined;
    if (isFull) this.count(`forgotten/${kind}`);
    return isFull;
  }

  count(kind: string): void {
    const short = shortName(kind);
    const name = this.drift.has(short) || this.drift.size < DRIFT_KINDS_MAX ? short : 'other';
    this.drift.set(name, (this.drift.get(name) ?? 0) + 1);
  }
}

type Id = string | undefined;

/** The same with every optional field also undefined, member by member of a union. */
export type Loose<T> = T extends unknown
  ? { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] | Absent<T, K> }
  : never;

type Absent<T, K extends keyof T> = {} extends Pick<T, K> ? undefined : never;
