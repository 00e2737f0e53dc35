import type { FleetEvent } from '@fleetloom/protocol/fleet';

/** An event without what every event has. `type` is its first field: whoever encodes it counts on that. */
export type Told = { readonly type: FleetEvent['type'] } & Readonly<Record<string, unknown>>;
