import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { SessionState, ThreadState } from './state.ts';

/** The definition that a thread works by. A copy of the session's own agent follows its updates, members are pinned. */
export function agentOf(
  state: SessionState,
  thread: Pick<ThreadState, 'member' | 'agentName' | 'title'>,
): AgentSnapshot {
  const { member, agentName, title } = thread;
  if (member === null) {
    if (agentName === state.agent.name && title === null) return state.agent;
    // A program has kinds of agents of its own, which have what its main agent has.
    return { ...state.agent, name: agentName, ...(title === null ? {} : { description: title }) };
  }
  const found = state.created.members[member];
  if (found === undefined) throw new Error(`${state.id} has no member ${member}`);
  return found;
}
