import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { encodeEvent } from '@fleetloom/protocol/sse';
import type { Place } from './place.ts';

/** An event as it goes out, made once for all its readers. */
export interface EncodedEvent extends Place {
  readonly type: FleetEvent['type'];
  readonly time: number;
  /** Of events about a run as a whole. */
  readonly requestId: string | undefined;
  /** With its cursor as its id. */
  readonly bytes: Uint8Array;
  /** Without an id, for streams on which ids mean something else. */
  readonly body: Uint8Array;
}

/** The cursor stands in the data too: on streams of several sessions it is all that says where each of them is. */
export function encodeFleetEvent(event: FleetEvent, index: number): EncodedEvent {
  const { type, ...fields } = event;
  const id = `id: ${event.cursor}\n`;
  // JSON has no line breaks, and types are ours.
  const bytes = Buffer.from(`${id}${encodeEvent({ event: type, data: JSON.stringify(fields) })}`);
  const requestId = 'request_id' in event ? event.request_id : undefined;
  return {
    seq: event.seq ?? 0,
    index,
    type,
    time: event.ts ?? 0,
    requestId,
    bytes,
    body: bytes.subarray(id.length),
  };
}
