import type { SessionThread } from '@fleetloom/protocol/managed-agents';

/**
 * The name shown for the agent of a thread. A program has its own agent types and many threads of one type; such threads are
 * shown with their task, which the server returns as the description of the agent.
 */
export function toThreadLabel({ agent }: SessionThread, all: readonly SessionThread[]): string {
  const main = all.find(({ parent_thread_id: parent }) => parent === null)?.agent;
  const isOwnKind = main !== undefined && agent.id === main.id && agent.name !== main.name;
  return isOwnKind ? agent.description || agent.name : agent.name;
}
