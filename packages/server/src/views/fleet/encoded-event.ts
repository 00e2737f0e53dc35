import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { SessionFrame } from '../../frames/frames.ts';
import type { FrameEvents } from './fleet-view.ts';
import { type FleetCursor, isAfter, parseCursor } from './fleet-cursor.ts';
import type { EventBody } from './event-body.ts';

/** An event as it goes out, or several of text in one piece, made once for all readers. Its cursor is that of the last one. */
export interface EncodedEvent extends FleetCursor {
  readonly type: FleetEvent['type'];
  /** The first of several events. */
  readonly first?: FleetCursor;
  readonly time: number;
  /** Of events about a run as a whole. */
  readonly requestId: string | undefined;
  /** With its cursor as its id. */
  readonly bytes: Uint8Array;
  /** Without an id, for streams on which ids mean something else. */
  readonly body: Uint8Array;
}

/**
 * The events that a frame gives. Their cursors are its number, and behind it how many came before. The cursor stands in the
 * data too: on streams of several sessions it is all that says where each of them is.
 *
 * Put together from pieces that are JSON already: most frames are deltas, and this is most of what a reader costs.
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
    // JSON has no line breaks, and types and ids are ours.
    const bytes = Buffer.from(`${id}event: ${type}\ndata: {${common}${fieldsOf(each)}${rest}}\n\n`);
    const requestId = typeof each['request_id'] === 'string' ? each['request_id'] : undefined;
    return { seq, index, type, time, requestId, bytes, body: bytes.subarray(id.length) };
  });
}

/** The event of a piece of text or thinking, which is nearly all of a stream. Undefined for all other events. */
export function toTextEvent(
  { sessionId, seq, time }: Pick<SessionFrame, 'sessionId' | 'seq' | 'time'>,
  { events, of }: FrameEvents,
): string | undefined {
  const [event] = events;
  if (of === undefined || events.length !== 1) return undefined;
  const { type, delta } = event!;
  if (type !== 'text' && type !== 'thinking') return undefined;
  // The same as `encodeEvents` makes of it, in one step.
  const rest = `"session_id":"${sessionId}","seq":${seq},"ts":${time},"cursor":"${seq}"`;
  return `id: ${seq}\nevent: ${type}\ndata: {${of.common},"delta":${JSON.stringify(delta)},${rest}}\n\n`;
}

/** Several text events of consecutive frames in one piece of bytes. */
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
    // Data is JSON without line breaks, so a line that begins like this is an id.
    this.#body ??= Buffer.from(
      Buffer.from(this.bytes)
        .toString('latin1')
        .replace(/^id: .*\n/gm, ''),
      'latin1',
    );
    return this.#body;
  }

  /** The events of it behind a cursor that lies within it. */
  behind(after: FleetCursor): TextBlock {
    const text = Buffer.from(this.bytes).toString('latin1');
    for (const match of text.matchAll(/^id: (.*)$/gm)) {
      const cursor = parseCursor(match[1]!)!;
      if (isAfter(cursor, after)) return new TextBlock(cursor, this.seq, this.time, this.bytes.subarray(match.index));
    }
    return this;
  }
}

/** What of an event, or of several in one piece, lies behind a cursor. */
export function cutBehind(event: EncodedEvent, after: FleetCursor): EncodedEvent | undefined {
  if (!isAfter(event, after)) return undefined;
  return event instanceof TextBlock && !isAfter(event.first, after) ? event.behind(after) : event;
}

/** The fields without the type, each with a comma behind it. The type is the first field of every event body. */
function fieldsOf(events: EventBody): string {
  const fields = JSON.stringify(events).slice(`{"type":"${events.type}"`.length, -1);
  return fields === '' ? '' : `${fields.slice(1)},`;
}
