import type { Clock } from '../base/clock.ts';
import { type LoopLag, watchLoopLag } from '../base/loop-lag.ts';
import type { Schedule } from '../base/schedule.ts';
import { Admission, type AdmissionKind } from '../http/connections/admission.ts';
import { httpLimits } from '../http/limits.ts';
import type { Store } from '../store/store.ts';

/** The parts that can delay requests: the store, the log and the event loop. */
export interface AdmissionSources {
  readonly store: Pick<Store, 'connections'>;
  readonly log: { oldestWriteMs(): number };
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the admission of requests of each kind. It measures the delay of the event loop, so it must be closed. */
export function openAdmission({ store, log, clock, schedule, onProblem }: AdmissionSources): {
  readonly admission: Readonly<Record<AdmissionKind, Admission>>;
  readonly lag: LoopLag;
} {
  const lag = watchLoopLag(clock, schedule, () => {
    admission.work.tick();
    admission.reads.tick();
  });
  const oldestQueryMs = () => store.connections?.oldestWaitMs ?? 0;
  // Writes to a healthy disk take a while, too.
  const oldestWriteMs = () => log.oldestWriteMs() - httpLimits.admissionWriteMs;
  const open = (kind: AdmissionKind, delayMs: () => number) =>
    new Admission({ kind, clock, delayMs, busyShare: () => lag.busyShare, random: Math.random, onProblem });
  const admission = {
    work: open('work', () => Math.max(lag.lagMs, oldestQueryMs(), oldestWriteMs())),
    // A read is cheap: it waits only behind too many other reads, not because work delays the event loop.
    reads: open('reads', oldestQueryMs),
  };
  return { admission, lag };
}
