import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { z } from 'zod';
import type { AuditEntry, ChainEnd } from '../../../store/audit.ts';
import type { Store } from '../../../store/store.ts';
import { httpLimits } from '../../limits.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';

const end = z.strictObject({ seq: z.int(), hash: z.string() });

const auditEntry = z
  .strictObject({
    type: z.literal('audit_entry'),
    workspace_id: z.string(),
    seq: z.int(),
    recorded_at: z.iso.datetime(),
    entry: z.looseObject({ action: z.string(), target: z.string().nullable() }),
    hash: z.string(),
  })
  .meta({ id: 'AuditEntry' });

const number = (max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value <= max, `must be at most ${max}`);

/** `/v1/fleet/audit`: the actions of people and programs in the workspace, as a chain of hashes. */
export function createAuditRoute({ audit: log }: Pick<Store, 'audit'>): AnyRoute {
  return defineRoute({
    name: 'fleet.audit',
    summary: 'List the entries of the audit log of the workspace, the oldest first',
    method: 'get',
    path: '/v1/fleet/audit',
    accepts: ['api'],
    query: z.strictObject({
      after: number(Number.MAX_SAFE_INTEGER).exactOptional(),
      limit: number(httpLimits.auditPageMax).exactOptional(),
    }),
    gives: z.strictObject({
      data: z.array(auditEntry),
      start: end,
      head: end,
      next_after: z.int().nullable(),
    }),
    handle: async ({ credential: { workspaceId }, query: { after = 0, limit = httpLimits.auditPageDefault } }) => {
      // The ends are read first, so that the page has no entry that is newer than the head.
      const { start, head } = await log.ends(workspaceId);
      const above = after === 0 ? Number.MIN_SAFE_INTEGER : after;
      const entries = await log.list({ workspaceId, after: above, limit: Math.max(1, limit) + 1 });
      const page = entries.slice(0, Math.max(1, limit)).filter(({ seq }) => seq <= head.seq);
      const inserted = page.at(-1)?.seq === head.seq || page.length === 0 ? await findInserted(log, head, entries) : [];
      const data = [...page, ...inserted].map(toFleetAuditEntry);
      const last = data.at(-1)?.seq;
      return { data, start, head, next_after: last === undefined || last >= head.seq ? null : last };
    },
  });
}

/** Finds entries behind the newest one. An entry that was appended in the meantime is not one of them: it changes the head. */
async function findInserted(
  log: Store['audit'],
  head: ChainEnd,
  entries: readonly AuditEntry[],
): Promise<readonly AuditEntry[]> {
  const behind = entries.filter(({ seq }) => seq > head.seq);
  const [first] = behind;
  if (first === undefined) return [];
  const now = await log.ends(first.workspaceId);
  return behind.filter(({ seq }) => seq > now.head.seq);
}

/** An entry as it is sent and exported. `entry` is the content of the hash, with its keys in their order. */
export function toFleetAuditEntry({ workspaceId, seq, time, data, hash }: AuditEntry): FleetAuditEntry {
  return {
    type: 'audit_entry',
    workspace_id: workspaceId,
    seq,
    recorded_at: new Date(time).toISOString(),
    // The cast: every auditor writes these fields.
    entry: data as unknown as FleetAuditEntry['entry'],
    hash,
  };
}
