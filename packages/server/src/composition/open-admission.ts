import type { Clock } from '../base/clock.ts';
import { type LoopLag, watchLoopLag } from '../base/loop-lag.ts';
import type { Schedule } from '../base/schedule.ts';
import { Admission } from '../http/connections/admission.ts';
import { httpLimits } from '../http/limits.ts';
import type { Store } from '../store/store.ts';

/** What delays new work: the store, the log and the event loop. */
export interface AdmissionSources {
  readonly store: Pick<Store, 'connections'>;
  readonly log: { oldestWriteMs(): number };
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** The admission of requests for new work, and the measured delay of the event loop, which has to be closed. */
export function openAdmission({ store, log, clock, schedule, onProblem }: AdmissionSources): {
  readonly admission: Admission;
  readonly lag: LoopLag;
} {
  const lag = watchLoopLag(clock, schedule, () => admission.tick());
  const admission = new Admission({
    clock,
    // Writes to a healthy disk take a while, too.
    delayMs: () =>
      Math.max(lag.lagMs, store.connections?.oldestWaitMs ?? 0, log.oldestWriteMs() - httpLimits.admissionWriteMs),
    random: Math.random,
    onProblem,
  });
  return { admission, lag };
}
