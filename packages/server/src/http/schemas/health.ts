import { z } from 'zod';

const threadParts = { id: z.string(), since: z.iso.datetime() };
const lastByteAt = z.iso.datetime().nullable();

const threadHealth = z.discriminatedUnion('doing', [
  z.strictObject({
    ...threadParts,
    doing: z.literal('request'),
    connection: z.enum(['queued', 'sent', 'open']).nullable(),
    last_byte_at: lastByteAt,
  }),
  z.strictObject({ ...threadParts, doing: z.literal('tool'), tool: z.string() }),
  z.strictObject({
    ...threadParts,
    doing: z.literal('program'),
    pid: z.int().nullable(),
    is_alive: z.boolean(),
    last_byte_at: lastByteAt,
    tool: z.string().nullable(),
  }),
  z.strictObject({ ...threadParts, doing: z.literal('elsewhere'), tool: z.string().nullable() }),
  z.strictObject({
    ...threadParts,
    doing: z.literal('wait'),
    waits_for: z.enum(['retry', 'threads', 'somebody']),
  }),
]);

/** The activity of each thread of a session, in responses. */
export const sessionHealth = z
  .strictObject({
    type: z.literal('session_health'),
    session_id: z.string(),
    is_known: z.boolean(),
    owner: z.strictObject({ node_id: z.string().nullable() }).nullable(),
    threads: z.array(threadHealth),
  })
  .meta({ id: 'SessionHealth' });

/** Model requests in progress and waiting, in responses. */
export const fleetLoad = z
  .strictObject({
    type: z.literal('fleet_load'),
    node_id: z.string().nullable(),
    nodes: z.int(),
    endpoint: z.strictObject({ active: z.int(), waiting: z.int(), max: z.int(), paused_ms: z.int() }).nullable(),
  })
  .meta({ id: 'FleetLoad' });
