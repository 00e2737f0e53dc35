import type { FleetEvent } from '@fleetloom/protocol/fleet';

/** An event without the fields that every event has. `type` is its first field, which the encoder relies on. */
export type EventBody = { readonly type: FleetEvent['type'] } & Readonly<Record<string, unknown>>;
