import type { AgentChoice } from '../claude-server.ts';
import type { ScenarioRun } from './scenario-run.ts';

/** One way in which people and agents of the real program work together. What must come out is the same for all. */
export interface Scenario {
  readonly name: string;
  /** A function is called for each run: a scenario may need servers of its own. */
  readonly agent?: AgentChoice | (() => Promise<AgentChoice>);
  /** Talks to the session until it is idle for good. */
  readonly drive: (run: ScenarioRun) => Promise<void>;
  /** A turn is cut off: calls without a result are closed as interrupted. */
  readonly isDisturbed?: boolean;
  /** Runs with every `npm test`; the others only with `npm run test:claude-code`, or with `FLEETLOOM_LONG=1`. */
  readonly isSmoke?: boolean;
  /** Waits for a minute or more: runs only with `FLEETLOOM_LONG=1`. */
  readonly isLong?: true;
  /** Only with this version of the program. */
  readonly version?: '2.1.197' | '2.1.325';
}
