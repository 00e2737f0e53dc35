import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { SessionState, ThreadState } from './state.ts';

/** The definition that a thread works by. A copy of the session's own agent follows its updates, members are pinned. */
export function agentOf(state: SessionState, { member }: Pick<ThreadState, 'member'>): AgentSnapshot {
  if (member === null) return state.agent;
  const found = state.created.members[member];
  if (found === undefined) throw new Error(`${state.id} has no member ${member}`);
  return found;
}
