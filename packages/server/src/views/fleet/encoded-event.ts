import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { SessionFrame } from '../../frames/frames.ts';
import type { FrameEvents } from './fleet-view.ts';
import type { FleetCursor } from './fleet-cursor.ts';
import type { EventBody } from './event-body.ts';

/** An event as it goes out, made once for all its readers. */
export interface EncodedEvent extends FleetCursor {
  readonly type: FleetEvent['type'];
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

/** The fields without the type, each with a comma behind it. The type is the first field of every event body. */
function fieldsOf(events: EventBody): string {
  const fields = JSON.stringify(events).slice(`{"type":"${events.type}"`.length, -1);
  return fields === '' ? '' : `${fields.slice(1)},`;
}
