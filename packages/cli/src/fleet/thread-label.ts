import type { SessionThread } from '@fleetloom/protocol/managed-agents';

/**
 * What to call the agent of a thread. A program has kinds of agents of its own, and many threads of one kind: those are called what they
 * were started for, which the server gives as the description of their agent.
 */
export function toThreadLabel({ agent }: SessionThread, all: readonly SessionThread[]): string {
  const main = all.find(({ parent_thread_id: parent }) => parent === null)?.agent;
  const isOwnKind = main !== undefined && agent.id === main.id && agent.name !== main.name;
  return isOwnKind ? agent.description || agent.name : agent.name;
}
