import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { toFleetAuditEntry } from '../../http/routes/access/audit.ts';
import { CHAIN_START } from '../../store/audit.ts';
import { storeLimits } from '../../store/limits.ts';
import type { Store } from '../../store/store.ts';

/** An output of the audit log in addition to the store. */
export interface AuditOutput {
  /** The name of the output, under which its position is stored. */
  readonly name: string;
  /**
   * Whether the last write was not lost. Called before the next write; if the last write was lost, its entries are written again.
   * Absent: writes are never lost.
   */
  readonly isIntact?: (() => boolean) | undefined;
  write(entries: readonly FleetAuditEntry[]): Promise<void>;
  close(): void;
}

/** Writes new entries to an output, each at least once and in the order of its chain. */
export type WriteOut = () => Promise<void>;

/** Opens an output at its position before a restart. A new output begins with future entries. */
export async function openAuditOutput(
  { documents, audit }: Pick<Store, 'documents' | 'audit'>,
  id: string,
  output: AuditOutput,
): Promise<WriteOut> {
  const known = await documents.get(OUTPUT, id);
  /** The stored position of each workspace: later entries are written again after a restart, or after a broken connection. */
  let settled = new Map(Object.entries((known?.data ?? {}) as Readonly<Record<string, number>>));
  if (known === undefined) {
    for (const [workspaceId, { seq }] of await audit.heads()) settled.set(workspaceId, seq);
    await save();
  }
  let written = new Map(settled);
  let isPending = false;
  return async () => {
    if (isPending) await settle();
    for (const [workspaceId, { seq }] of await audit.heads()) {
      for (let after = written.get(workspaceId) ?? CHAIN_START.seq; after < seq; ) {
        const entries = await audit.list({ workspaceId, after, limit: storeLimits.storeSliceRowsMax });
        // Retention may have removed the entries.
        after = entries.at(-1)?.seq ?? seq;
        // Entries written to a broken connection are written again at the next poll; writing now would hide the break.
        if (isPending && output.isIntact?.() === false) return;
        isPending = true;
        if (entries.length > 0) await output.write(entries.map(toFleetAuditEntry));
        written.set(workspaceId, after);
      }
    }
    if (isPending && output.isIntact === undefined) await settle();
  };

  async function settle(): Promise<void> {
    if (output.isIntact?.() ?? true) {
      settled = new Map(written);
      await save();
    } else written = new Map(settled);
    isPending = false;
  }

  async function save(): Promise<void> {
    await documents.put({ kind: OUTPUT, id, data: Object.fromEntries(settled) });
  }
}

const OUTPUT = 'audit_output';
