import { z } from 'zod';

/** The query of every endpoint that returns a fleet stream. */
export const fleetQuery = z.strictObject({
  /** The last id that the reader received. `Last-Event-ID` means the same and wins. */
  after: z.string().min(1).exactOptional(),
  /** Whether the stream continues after the events so far. */
  follow: z.boolean().default(true),
  /** `live` skips earlier events. */
  from: z.enum(['start', 'live']).default('start'),
  /** How text is delivered while the agent may still delegate. */
  gate: z.enum(['strict', 'live', 'off']).default('strict'),
  /** `sessions`: rows of the list of sessions that change, on the stream of all sessions. */
  include: z.array(z.enum(['thinking', 'sessions'])).default([]),
});

/** The parsed query, with defaults. */
export type FleetQuery = z.output<typeof fleetQuery>;
