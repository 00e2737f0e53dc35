import { z } from 'zod';

/** How a fleet stream is watched; the same on every endpoint that gives one. */
export const fleetQuery = z.strictObject({
  /** Where the reader is: the last id that it was given. `Last-Event-ID` says the same, and goes first. */
  after: z.string().min(1).exactOptional(),
  /** False: the stream ends at the present. */
  follow: z.boolean().default(true),
  /** `live` leaves out what has happened before. */
  from: z.enum(['start', 'live']).default('start'),
  /** How the text of an agent arrives while it may yet delegate. */
  gate: z.enum(['strict', 'live', 'off']).default('strict'),
  include: z.array(z.enum(['thinking'])).default([]),
});

export type FleetQuery = z.output<typeof fleetQuery>;
