import { z } from 'zod';
import { pageQuery } from '../paging/paging.ts';

/** The query of the connections of a session. */
export const egressListQuery = z.object(pageQuery({ max: 1_000, normally: 100 }));

/** An event of a connection from the programs of a session to another host. */
export const egressConnection = z.strictObject({
  type: z.literal('egress_connection'),
  /** The id of the connection, the same for its `opened` and `closed`. */
  id: z.string(),
  outcome: z.enum(['opened', 'closed', 'refused', 'omitted']),
  created_at: z.iso.datetime(),
  /** The host; null for `omitted`. */
  host: z.string().nullable(),
  port: z.int().nullable(),
  /** `tunnel`: the proxy could not read the content. `tls`: it could, because a credential of the session applies to the host. */
  protocol: z.enum(['tunnel', 'tls', 'http']).nullable(),
  /** Why the proxy rejected or ended the connection. */
  reason: z.string().nullable(),
  bytes_sent: z.int().nullable(),
  bytes_received: z.int().nullable(),
  duration_ms: z.int().nullable(),
  /** How often the secret of each credential was inserted into requests of the connection, by the id of the credential. */
  credentials: z.record(z.string(), z.int()),
  /** With `omitted`: the number of connections that are not listed. */
  count: z.int().nullable(),
});
