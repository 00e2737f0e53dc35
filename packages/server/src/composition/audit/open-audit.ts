import type { Clock } from '../../base/clock.ts';
import type { Schedule } from '../../base/schedule.ts';
import { storeLimits } from '../../store/limits.ts';
import type { Store } from '../../store/store.ts';
import { type AuditOutput, openAuditOutput, type WriteOut } from './audit-output.ts';
import { createOutboxReader } from './audit-outbox.ts';
import { compositionLimits } from '../limits.ts';
import { repeat } from '../repeat.ts';
import type { ServerOptions } from '../server-options.ts';
import { toAuditOutputs } from './to-audit-outputs.ts';

/** Options of the audit log of a server: outputs, retention and their timers. */
export interface AuditOptions {
  readonly store: Pick<Store, 'documents' | 'audit'>;
  readonly dataDirectory: string;
  readonly options: Pick<ServerOptions, 'keepAudit' | 'onAuditEntry' | 'auditSyslog'>;
  /** The name of this server, under which the positions of its outputs are stored. */
  readonly serverName: string;
  /** Whether this process removes old entries. */
  readonly isMine: () => boolean;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Moves entries of commands into the log, writes entries to the outputs, and removes old entries. */
export async function openAudit(parts: AuditOptions): Promise<{ close(): Promise<void> }> {
  const { store, dataDirectory, onProblem, schedule } = parts;
  const { keepAudit = 'all' } = parts.options;
  const outputs = toAuditOutputs(parts.options);
  const take = createOutboxReader(dataDirectory, store, onProblem);
  await take();
  const { auditEveryMs, auditPruneMs } = compositionLimits;
  const running = [repeat({ run: take, everyMs: auditEveryMs, schedule, onProblem })];
  for (const output of outputs) {
    const id = output.name === '' ? parts.serverName : `${parts.serverName} ${output.name}`;
    const run = once(await openAuditOutput(store, id, output), output, onProblem);
    running.push(repeat({ run, everyMs: auditEveryMs, schedule, onProblem }));
  }
  if (keepAudit !== 'all') {
    const { days } = keepAudit;
    const prune = async () => {
      if (parts.isMine()) await pruneAudit(parts, days);
    };
    running.push(repeat({ run: prune, everyMs: auditPruneMs, schedule, onProblem }));
  }
  return {
    close: async () => {
      for (const part of running) await part.close();
      for (const output of outputs) output.close();
    },
  };
}

const DAY_MS = 86_400_000;

/** Removes the oldest entries, in slices. */
export async function pruneAudit({ store, clock }: Pick<AuditOptions, 'store' | 'clock'>, days: number): Promise<void> {
  const before = clock.now() - days * DAY_MS;
  while ((await store.audit.prune(before, storeLimits.storeSliceRowsMax)) > 0);
}

/** Reports an output that fails once per outage, not at every attempt. */
function once(write: WriteOut, { name }: AuditOutput, onProblem: AuditOptions['onProblem']): WriteOut {
  let isFailing = false;
  return async () => {
    try {
      await write();
      isFailing = false;
    } catch (cause) {
      if (!isFailing)
        onProblem(new Error(`the audit log cannot be written to ${name || 'its output'} for now`, { cause }));
      isFailing = true;
    }
  };
}
