import type { AgentSnapshot } from './agent-snapshot.ts';
import type { SessionMultiagent } from './multiagent.ts';

/** The agent of a session, as it was when the session was created, with its whole roster. */
export interface SessionAgent extends AgentSnapshot {
  readonly multiagent: SessionMultiagent | null;
}
