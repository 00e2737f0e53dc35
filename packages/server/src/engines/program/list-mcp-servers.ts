import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';

/** One for each name: all agents of a process share its servers, and the last one of a name is the one. */
export function listMcpServers(
  agents: readonly AgentSnapshot[],
): readonly { readonly name: string; readonly url: string }[] {
  const servers = agents.flatMap(({ mcp_servers: own }) => own);
  return [...new Map(servers.map(({ name, url }) => [name, { name, url }])).values()];
}
