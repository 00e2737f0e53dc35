import type { AgentChoice } from '../claude-server.ts';
import type { ScenarioRun } from './scenario-run.ts';

/** One interaction of people and agents of the real program. The same checks apply to all scenarios. */
export interface Scenario {
  readonly name: string;
  /** A function is called for each run: a scenario may need servers of its own. */
  readonly agent?: AgentChoice | (() => Promise<AgentChoice>);
  /** Talks to the session until it is idle for good. */
  readonly drive: (run: ScenarioRun) => Promise<void>;
  /** Whether a turn is cut off: calls without a result are closed as interrupted. */
  readonly isDisturbed?: boolean;
  /** Whether the scenario runs with every `npm test`; others run only with `npm run test:claude-code`, or with `FLEETLOOM_LONG=1`. */
  readonly isSmoke?: boolean;
  /** Set if the scenario waits for a minute or more: it runs only with `FLEETLOOM_LONG=1`. */
  readonly isLong?: true;
  /** The only version of the program with which the scenario runs. */
  readonly version?: '2.1.197' | '2.1.325';
}
