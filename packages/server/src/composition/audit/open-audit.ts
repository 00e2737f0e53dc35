import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import type { Clock } from '../../base/clock.ts';
import type { Schedule } from '../../base/schedule.ts';
import { toFleetAuditEntry } from '../../http/routes/access/audit.ts';
import { CHAIN_START } from '../../store/audit.ts';
import { storeLimits } from '../../store/limits.ts';
import type { Store } from '../../store/store.ts';
import { createOutboxReader } from './audit-outbox.ts';
import { compositionLimits } from '../limits.ts';
import { repeat } from '../repeat.ts';

/** How long entries of the audit log are kept. */
export type KeepAudit = 'all' | { readonly days: number };

/** What runs beside the audit log of a server. */
export interface AuditOptions {
  readonly store: Pick<Store, 'documents' | 'audit'>;
  readonly dataDirectory: string;
  readonly keep: KeepAudit;
  /** Receives every entry at least once, in the order of its chain. */
  readonly onEntry: ((entry: FleetAuditEntry) => void) | undefined;
  /** Names this server among those that write entries out: it continues where it ended. */
  readonly outputName: string;
  /** Whether this process removes old entries. */
  readonly isMine: () => boolean;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Takes entries of commands into the log, writes entries out, and removes old ones. */
export async function openAudit(options: AuditOptions): Promise<{ close(): Promise<void> }> {
  const { store, dataDirectory, onProblem, schedule } = options;
  const take = createOutboxReader(dataDirectory, store, onProblem);
  await take();
  const { auditEveryMs, auditPruneMs } = compositionLimits;
  const output = options.onEntry === undefined ? undefined : await openOutput(options, options.onEntry);
  const run = async () => {
    await take();
    await output?.();
  };
  const parts = [repeat({ run, everyMs: auditEveryMs, schedule, onProblem })];
  if (options.keep !== 'all') {
    const { days } = options.keep;
    const prune = async () => {
      if (options.isMine()) await pruneAudit(options, days);
    };
    parts.push(repeat({ run: prune, everyMs: auditPruneMs, schedule, onProblem }));
  }
  return {
    close: async () => {
      for (const part of parts) await part.close();
    },
  };
}

const DAY_MS = 86_400_000;

/** Removes the oldest entries, in slices. */
export async function pruneAudit({ store, clock }: Pick<AuditOptions, 'store' | 'clock'>, days: number): Promise<void> {
  const before = clock.now() - days * DAY_MS;
  while ((await store.audit.prune(before, storeLimits.storeSliceRowsMax)) > 0);
}

/** Writes out what was appended since the last time, also before a restart. A new server begins with the entries to come. */
async function openOutput({ store, outputName }: AuditOptions, onEntry: (entry: FleetAuditEntry) => void) {
  const known = await store.documents.get(OUTPUT, outputName);
  const cursors = new Map(Object.entries((known?.data ?? {}) as Readonly<Record<string, number>>));
  if (known === undefined)
    for (const [workspaceId, { seq }] of await store.audit.heads()) cursors.set(workspaceId, seq);
  await store.documents.put({ kind: OUTPUT, id: outputName, data: Object.fromEntries(cursors) });
  return async () => {
    let isChanged = false;
    for (const [workspaceId, { seq }] of await store.audit.heads()) {
      for (let after = cursors.get(workspaceId) ?? CHAIN_START.seq; after < seq; ) {
        const entries = await store.audit.list({ workspaceId, after, limit: storeLimits.storeSliceRowsMax });
        // Retention may have removed them.
        after = entries.at(-1)?.seq ?? seq;
        for (const entry of entries) onEntry(toFleetAuditEntry(entry));
        cursors.set(workspaceId, after);
        isChanged = true;
      }
    }
    if (isChanged) await store.documents.put({ kind: OUTPUT, id: outputName, data: Object.fromEntries(cursors) });
  };
}

const OUTPUT = 'audit_output';
