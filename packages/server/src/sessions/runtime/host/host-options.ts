import type { Schedule } from '../../../base/schedule.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { SessionParts } from '../open-session.ts';

/** What a session host needs. `schedule` defaults to the timers of the process. */
export interface HostOptions extends Omit<SessionParts, 'schedule'> {
  readonly schedule?: Schedule;
  /** Receives failures that no caller waits for: a lost session, a log that cannot be read. */
  readonly onProblem?: (sessionId: string, error: unknown) => void;
  /** Whether idle sessions are released at once. By default the heap of this process decides. */
  readonly isHeapShort?: (() => boolean) | undefined;
  /** Content of all open sessions. By default a share of the heap of this process. */
  readonly openBytesMax?: number | undefined;
}

/** Host options with every default filled in. */
export type ResolvedHostOptions = HostOptions & { readonly schedule: Schedule };

/** Milliseconds between two rounds of the host's periodic work. */
export function tickMsOf({ shared }: Pick<HostOptions, 'shared'>): number {
  return shared === undefined ? sessionLimits.hostTickMs : (shared.tickMs ?? sessionLimits.sharedTickMs);
}
