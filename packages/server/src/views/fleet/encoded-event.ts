import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { SessionFrame } from '../../frames/frames.ts';
import type { FrameEvents } from './fleet-view.ts';
import { type FleetCursor, isAfter, parseCursor } from './fleet-cursor.ts';
import type { EventBody } from './event-body.ts';

/** One event, or several text events in one piece, encoded once for all readers. Its cursor is that of the last event. */
export interface EncodedEvent extends FleetCursor {
  readonly type: FleetEvent['type'];
  /** The cursor of the first event, if there are several. */
  readonly first?: FleetCursor;
  readonly time: number;
  /** Set for events about a run as a whole. */
  readonly requestId: string | undefined;
  /** The event as sent on a stream, with its cursor as SSE id. */
  readonly bytes: Uint8Array;
  /** The same without an id, for streams whose ids are something else. */
  readonly body: Uint8Array;
}

/**
 * Encodes the events of a frame. A cursor is the frame's number, followed by the index of the event in the frame. The cursor is also in the
 * data: on streams of several sessions it is the only position of each session.
 *
 * The JSON is joined from parts that are encoded already: most frames are deltas, and encoding them is most of the cost of a reader.
 */
export function encodeEvents(
  { sessionId, seq, time }: Pick<SessionFrame, 'sessionId' | 'seq' | 'time'>,
  { events, of }: FrameEvents,
): EncodedEvent[] {
  const common = of === undefined ? '' : `${of.common},`;
  return events.map((each, index) => {
    const { type } = each;
    const cursor = index === 0 ? `${seq}` : `${seq}.${index}`;
    const id = `id: ${cursor}\n`;
    const rest = `"session_id":"${sessionId}","seq":${seq},"ts":${time},"cursor":"${cursor}"`;
    // Safe in SSE: JSON has no line breaks, and types and ids are the server's own.
    const bytes = Buffer.from(`${id}event: ${type}\ndata: {${common}${fieldsOf(each)}${rest}}\n\n`);
    const requestId = typeof each['request_id'] === 'string' ? each['request_id'] : undefined;
    return { seq, index, type, time, requestId, bytes, body: bytes.subarray(id.length) };
  });
}

/** Encodes an event of text or thinking, as nearly all events are. Undefined for all other events. */
export function toTextEvent(
  { sessionId, seq, time }: Pick<SessionFrame, 'sessionId' | 'seq' | 'time'>,
  { events, of }: FrameEvents,
): string | undefined {
  const [event] = events;
  if (of === undefined || events.length !== 1) return undefined;
  const { type, delta } = event!;
  if (type !== 'text' && type !== 'thinking') return undefined;
  // The same bytes as those of `encodeEvents`, in one step.
  const rest = `"session_id":"${sessionId}","seq":${seq},"ts":${time},"cursor":"${seq}"`;
  return `id: ${seq}\nevent: ${type}\ndata: {${of.common},"delta":${JSON.stringify(delta)},${rest}}\n\n`;
}

/** Several text events of consecutive frames, encoded in one piece. */
export class TextBlock implements EncodedEvent {
  readonly type = 'text';
  readonly requestId = undefined;
  readonly index = 0;
  readonly first: FleetCursor;
  readonly seq: number;
  readonly time: number;
  readonly bytes: Uint8Array;
  #body: Uint8Array | undefined;

  constructor(first: FleetCursor, seq: number, time: number, bytes: Uint8Array) {
    this.first = first;
    this.seq = seq;
    this.time = time;
    this.bytes = bytes;
  }

  get body(): Uint8Array {
    // The data is JSON without line breaks, so only ids begin a line like this.
    this.#body ??= Buffer.from(
      Buffer.from(this.bytes)
        .toString('latin1')
        .replace(/^id: .*\n/gm, ''),
      'latin1',
    );
    return this.#body;
  }

  /** The events behind a cursor that lies within this block. */
  behind(after: FleetCursor): TextBlock {
    const text = Buffer.from(this.bytes).toString('latin1');
    for (const match of text.matchAll(/^id: (.*)$/gm)) {
      const cursor = parseCursor(match[1]!)!;
      if (isAfter(cursor, after)) return new TextBlock(cursor, this.seq, this.time, this.bytes.subarray(match.index));
    }
    return this;
  }
}

/** The part of an encoded event that lies behind a cursor; undefined if nothing does. */
export function cutBehind(event: EncodedEvent, after: FleetCursor): EncodedEvent | undefined {
  if (!isAfter(event, after)) return undefined;
  return event instanceof TextBlock && !isAfter(event.first, after) ? event.behind(after) : event;
}

/** The fields of an event without its type, each followed by a comma. The type is the first field of every event body. */
function fieldsOf(events: EventBody): string {
  const fields = JSON.stringify(events).slice(`{"type":"${events.type}"`.length, -1);
  return fields === '' ? '' : `${fields.slice(1)},`;
}
