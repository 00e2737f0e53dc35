import type {
  AgentSnapshot,
  AgentToolset,
  BuiltInToolName,
  McpToolset,
  ToolsetDefaultConfig,
} from '@fleetloom/protocol/managed-agents';

/** The choice of an agent's definition for a tool. */
export type ToolChoice = 'allow' | 'ask' | 'deny';

/** The choices of an agent's definition for the tools that every program has. */
export interface ToolChoices {
  builtin(name: BuiltInToolName): ToolChoice;
  /** The choice for a tool of the program that this server does not know, which may do anything. */
  readonly unknown: ToolChoice;
  /** The choice for a tool of an MCP server; `deny` for a server that the agent does not have. */
  mcp(serverName: string, toolName: string): ToolChoice;
}

/** Reads the choices of a definition. A tool that it does not mention is denied. */
export function toToolChoices({
  tools,
  mcp_servers: servers,
}: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>): ToolChoices {
  const toolset = tools.find((tool): tool is AgentToolset => tool.type === 'agent_toolset_20260401');
  const mcpToolsets = tools.filter((tool): tool is McpToolset => tool.type === 'mcp_toolset');
  return {
    builtin: (wanted) => toChoice(toolset?.configs.find(({ name }) => name === wanted) ?? toolset?.default_config),
    unknown: toChoice(toolset?.default_config),
    mcp: (serverName, toolName) => {
      const own = mcpToolsets.find(({ mcp_server_name: of }) => of === serverName);
      if (own === undefined || !servers.some(({ name }) => name === serverName)) return 'deny';
      return toChoice(own.configs.find(({ name }) => name === toolName) ?? own.default_config);
    },
  };
}

/** `auto` counts as `ask`: this server has no judge that could decide. */
function toChoice(config: ToolsetDefaultConfig | undefined): ToolChoice {
  if (config === undefined || !config.enabled) return 'deny';
  return config.permission_policy.type === 'always_allow' ? 'allow' : 'ask';
}

/** The strictest of several choices; `allow` without any. */
export function strictestOf(choices: readonly ToolChoice[]): ToolChoice {
  if (choices.includes('deny')) return 'deny';
  return choices.includes('ask') ? 'ask' : 'allow';
}
