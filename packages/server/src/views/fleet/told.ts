import type { FleetEvent } from '@fleetloom/protocol/fleet';

/** An event without what every event has. */
export type Told = { readonly type: FleetEvent['type'] } & Readonly<Record<string, unknown>>;
