import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';

/** The MCP servers of all agents, one for each name: the agents of a process share its servers. The last server of a name wins. */
export function listMcpServers(
  agents: readonly AgentSnapshot[],
): readonly { readonly name: string; readonly url: string }[] {
  const servers = agents.flatMap(({ mcp_servers: own }) => own);
  return [...new Map(servers.map(({ name, url }) => [name, { name, url }])).values()];
}
