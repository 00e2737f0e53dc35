import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { rootOf } from './program-threads.ts';
import type { SessionState, ThreadState } from './state.ts';

/** The agent definition of a thread. A copy of the session's agent follows its updates; agents of the roster are pinned. */
export function agentOf(state: SessionState, thread: ThreadState): AgentSnapshot {
  const { member, agentName, title } = thread;
  if (member === null) {
    const root = rootOf(state, thread);
    const main = root.member === null ? state.agent : agentOf(state, root);
    if (agentName === main.name && title === null) return main;
    // Kinds of agents that a program defines have the definition of its main agent.
    return { ...main, name: agentName, ...(title === null ? {} : { description: title }) };
  }
  const found = state.created.members[member];
  if (found === undefined) throw new Error(`${state.id} has no member ${member}`);
  if (found.isolation === undefined) return found;
  // It belongs to the roster, not to the agent.
  const { isolation: _, ...agent } = found;
  return agent;
}
