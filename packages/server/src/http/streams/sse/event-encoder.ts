import { encodeEvent } from '@fleetloom/protocol/sse';

/** An event in its wire format, whose `type` the `event:` line repeats. */
export interface WireEvent {
  readonly type: string;
  readonly id?: string;
}

/**
 * Encodes each event once: all readers of a session receive the same objects. The bytes are cached as long as the event is
 * in use.
 */
export function createEventEncoder(): (event: WireEvent) => Uint8Array {
  const known = new WeakMap<WireEvent, Uint8Array>();
  return (event) => {
    let bytes = known.get(event);
    if (bytes === undefined) known.set(event, (bytes = encodeWireEvent(event)));
    return bytes;
  };
}

/** Encodes an event. `event:` is always written, because official clients ignore events without it. */
export function encodeWireEvent(event: WireEvent, retryMs?: number): Uint8Array {
  const head = encodeEvent({
    event: event.type,
    ...(event.id === undefined ? {} : { id: event.id }),
    ...(retryMs === undefined ? {} : { retry: retryMs }),
    data: '',
  });
  // The JSON is appended after the encoder, which would search it for line breaks: it may be long and has none.
  return Buffer.from(`${head.slice(0, -2)}${JSON.stringify(event)}\n\n`);
}
