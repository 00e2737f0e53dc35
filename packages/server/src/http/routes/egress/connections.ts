import { requestError } from '../../../base/request-error.ts';
import type { EgressEntry } from '../../../frames/egress-entry.ts';
import type { Store } from '../../../store/store.ts';
import { readBackward } from '../../../views/read-frames.ts';
import { httpLimits } from '../../limits.ts';
import { toPageRequest, toWirePage, wirePage } from '../../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';
import { egressConnection, egressListQuery } from '../../schemas/egress.ts';
import { readSession } from '../read-session.ts';

/** `/v1/sessions/{session_id}/egress`: the connections of the programs of a session to other hosts. */
export function createEgressRoutes({ store }: { readonly store: Store }): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'sessions.egress.list',
      summary:
        'List the connections of the commands of a session to other hosts, allowed and refused, the newest first',
      method: 'get',
      path: '/v1/sessions/{session_id}/egress',
      accepts: ['api'],
      query: egressListQuery,
      gives: wirePage(egressConnection),
      handle: async ({ credential, params, query }) => {
        const { id } = await readSession(store, credential, params.session_id);
        const { limit, cursor } = toPageRequest(query);
        return toWirePage(await readConnections(store, id, { limit, before: toSeq(cursor) }));
      },
    }),
  ];
}

/** Reads a page. It may be empty although there are more connections: the number of frames read for one page is limited. */
async function readConnections(
  store: Store,
  sessionId: string,
  { limit, before }: { readonly limit: number; readonly before: number | null },
) {
  const items: ReturnType<typeof toConnection>[] = [];
  let seen = 0;
  let last = before;
  for await (const { seq, time, type, payload } of readBackward(store, sessionId, before, { skipsDeltas: true })) {
    if (items.length === limit || seen === httpLimits.egressFramesMax)
      return { items, next: String(last), previous: null };
    seen += 1;
    last = seq;
    if (type === 'egress.connection') items.push(toConnection(payload, time));
  }
  return { items, next: null, previous: null };
}

function toSeq(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const seq = /^\d{1,15}$/.test(cursor) ? Number(cursor) : 0;
  if (seq > 0) return seq;
  const advice = 'use next_page of an earlier response, or leave it out';
  throw requestError('invalid_request', 'page: is not a page of this list', { advice });
}

function toConnection(entry: EgressEntry, time: number) {
  const target = entry.outcome === 'omitted' ? { host: null, port: null, protocol: null } : entry;
  const end = entry.outcome === 'closed' ? entry : { bytes_sent: null, bytes_received: null, duration_ms: null };
  return {
    type: 'egress_connection' as const,
    id: entry.id,
    outcome: entry.outcome,
    created_at: new Date(time).toISOString(),
    host: target.host,
    port: target.port,
    protocol: target.protocol,
    reason: 'reason' in entry ? (entry.reason ?? null) : null,
    bytes_sent: end.bytes_sent,
    bytes_received: end.bytes_received,
    duration_ms: end.duration_ms,
    credentials: entry.outcome === 'closed' ? (entry.credentials ?? {}) : {},
    count: entry.outcome === 'omitted' ? entry.count : null,
  };
}
