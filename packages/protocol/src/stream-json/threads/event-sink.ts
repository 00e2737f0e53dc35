import { defined } from '../base/check.ts';
import { extractContent } from '../wire/content.ts';
import type { AgentEvent, EventBody } from '../wire/events.ts';
import { DRIFT_KINDS_MAX } from '../base/limits.ts';
import { keepLast } from '../base/recent-map.ts';
import { shortName } from '../base/text-mark.ts';
import type { Thread } from './threads.ts';

/** Collects the events of one line, adds envelope and number, and counts unknown kinds. */
export class EventSink {
  seq = 0;
  /** Time of the line that is being translated, where it has one. */
  ts: string | undefined;
  #events: AgentEvent[] = [];
  drift = new Map<string, number>();

  /** Emits an event without its undefined fields. */
  emit(thread: Thread, body: Loose<EventBody>): void {
    const { streamId: stream_id, depth, key } = thread.self;
    this.#push({ seq: this.seq++, stream_id, depth, thread: key, ...body });
  }

  // The next two are nearly all of a stream. They are written out, because copying a body behind an envelope takes longer
  // than everything else that is done for them.

  /** A piece of a block, with its call if it is one of a call's input; or, with a name, a whole call and its input. */
  say(
    thread: Thread,
    type: SaidType,
    id: Id,
    block: number,
    content: unknown,
    toolUseId?: string,
    name?: string,
  ): void {
    this.#push(new Said(this.seq++, thread, type, id, block, content, toolUseId, name), id);
  }

  toolResult(thread: Thread, toolUseId: string, isError: boolean, content: unknown, structured: unknown): void {
    this.#push(new Answered(this.seq++, thread, toolUseId, isError, content, structured), content);
  }

  /** `optional`: the one field that may be undefined, if there is only one. */
  #push(event: Loose<AgentEvent>, optional?: unknown): void {
    // The cast: `defined` removes undefined fields.
    const whole = (optional === undefined ? defined(event) : event) as AgentEvent;
    if (this.ts !== undefined) whole.ts = this.ts;
    this.#events.push(whole);
  }

  take(): AgentEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Emits a known value that is not interpreted. */
  raw(thread: Thread, kind: string, value: unknown): void {
    this.emit(thread, { type: 'raw', kind, value });
  }

  /** Emits an unknown value, and counts it. */
  unknown(thread: Thread, kind: string, value: unknown): void {
    this.count(kind);
    this.raw(thread, kind, value);
  }

  /** Appends an item to a list with a limit. Returns whether the first item was removed, which is counted. */
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

type SaidType = 'text_delta' | 'thinking_delta' | 'tool_input_delta' | 'tool_use';

/**
 * Makes objects like any other, but not by a literal. V8 counts how many objects of a literal its small collections leave over,
 * and one that comes in the middle of a chunk can make it put all later ones among the old at once. There they stay, with all
 * that they hold, until the next big collection, and everything takes a sixth longer. What a constructor makes is not counted.
 */
function plain<Fields extends unknown[]>(
  make: (this: { [name: string]: unknown }, ...fields: Fields) => void,
): new (
  ...fields: Fields
) => Loose<AgentEvent> {
  make.prototype = Object.prototype;
  // The cast: each function sets these fields.
  return make as unknown as new (
    ...fields: Fields
  ) => Loose<AgentEvent>;
}

const Said = plain(function (
  seq: number,
  { streamId, depth, key }: Thread,
  type: SaidType,
  id: Id,
  block: number,
  content: unknown,
  toolUseId?: string,
  toolName?: string,
) {
  this.seq = seq;
  this.stream_id = streamId;
  this.depth = depth;
  this.thread = key;
  this.type = type;
  this.message_id = id;
  this.block = block;
  if (toolUseId !== undefined) this.toolUseId = toolUseId;
  if (toolName === undefined) this.content = content;
  else {
    this.toolName = toolName;
    this.input = content;
  }
});

const Answered = plain(function (
  seq: number,
  { streamId, depth, key }: Thread,
  toolUseId: string,
  isError: boolean,
  content: unknown,
  structured: unknown,
) {
  this.seq = seq;
  this.stream_id = streamId;
  this.depth = depth;
  this.thread = key;
  this.type = 'tool_result';
  this.toolUseId = toolUseId;
  this.output = extractContent(content);
  this.isError = isError;
  this.content = content;
  if (structured !== undefined) this.structured = structured;
});

/** The same with every optional field also undefined, member by member of a union. */
export type Loose<T> = T extends unknown
  ? { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] | Absent<T, K> }
  : never;

type Absent<T, K extends keyof T> = {} extends Pick<T, K> ? undefined : never;
