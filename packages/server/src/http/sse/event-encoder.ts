import { encodeEvent } from '@fleetloom/protocol/sse';

/** An event as it goes out: its JSON has the `type` that the `event:` line repeats. */
export interface WireEvent {
  readonly type: string;
  readonly id?: string;
}

/**
 * Bytes of events, made once and shared: all readers of a session are given the same objects. Remembered as long as
 * somebody holds the event.
 */
export function createEventEncoder(): (event: WireEvent) => Uint8Array {
  const known = new WeakMap<WireEvent, Uint8Array>();
  return (event) => {
    let bytes = known.get(event);
    if (bytes === undefined) known.set(event, (bytes = encodeWireEvent(event)));
    return bytes;
  };
}

/** `event:` is never left out, because official clients drop what has none. JSON of this kind has no line breaks. */
export function encodeWireEvent(event: WireEvent, retryMs?: number): Uint8Array {
  return Buffer.from(
    encodeEvent({
      event: event.type,
      ...(event.id === undefined ? {} : { id: event.id }),
      ...(retryMs === undefined ? {} : { retry: retryMs }),
      data: JSON.stringify(event),
    }),
  );
}
