import { z } from 'zod';
import { pageQuery } from '../paging/paging.ts';

/** The query of the connections of a session. */
export const egressListQuery = z.object(pageQuery({ max: 1_000, normally: 100 }));

/** A connection of the programs of a session to another host, or what became of it. */
export const egressConnection = z.strictObject({
  type: z.literal('egress_connection'),
  /** The same for `opened` and `closed` of one connection. */
  id: z.string(),
  outcome: z.enum(['opened', 'closed', 'refused', 'omitted']),
  created_at: z.iso.datetime(),
  /** Null for `omitted`. */
  host: z.string().nullable(),
  port: z.int().nullable(),
  /** `tunnel`: the proxy did not see what passed. `tls`: it did, because a credential of the session applies to the host. */
  protocol: z.enum(['tunnel', 'tls', 'http']).nullable(),
  /** Why it was refused, or ended by the proxy. */
  reason: z.string().nullable(),
  bytes_sent: z.int().nullable(),
  bytes_received: z.int().nullable(),
  duration_ms: z.int().nullable(),
  /** How often the secret of each credential was put into its requests, by the id of the credential. */
  credentials: z.record(z.string(), z.int()),
  /** With `omitted`: so many connections more than are listed. */
  count: z.int().nullable(),
});
