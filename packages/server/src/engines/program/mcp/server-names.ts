import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';

/** The name by which programs know the MCP server with the custom tools of the agents. */
export const TOOL_SERVER = 'fleetloom';

/**
 * Why a program could not distinguish the MCP servers of these agents; null if it can. `toOwnName` returns the program's name of a server,
 * `whereOf` the part of the message that says where the names are equal.
 */
export function findServerNameProblem(
  agents: readonly Pick<AgentSnapshot, 'mcp_servers'>[],
  toOwnName: (name: string) => string,
  whereOf: (ownName: string) => string,
): string | null {
  const names = new Map<string, string>();
  for (const { name } of agents.flatMap(({ mcp_servers: servers }) => servers)) {
    const ownName = toOwnName(name);
    if (ownName === toOwnName(TOOL_SERVER)) return `the MCP server ${name} has a name that is reserved: rename it`;
    const known = names.get(ownName);
    if (known !== undefined && known !== name)
      return `the MCP servers ${known} and ${name} have the same name for ${whereOf(ownName)}: rename one`;
    names.set(ownName, name);
  }
  return null;
}
