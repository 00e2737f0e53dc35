import { builtInToolNames, type Session, toRoster } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';

/** Names of the tools that an agent of a session may call; an MCP toolset has the name of its server. */
export function toolNames(record: Session | undefined, agentName: string): readonly string[] {
  if (record === undefined) return [];
  const agents = [record.agent, ...toRoster(record.agent.multiagent)];
  const tools = agents.find(({ name }) => name === agentName)?.tools ?? [];
  return tools.flatMap((tool) => {
    if (tool.type === 'custom') return [cleanLine(tool.name)];
    if (tool.type === 'mcp_toolset') return [cleanLine(tool.mcp_server_name)];
    return builtInToolNames.filter((name) => {
      const config = tool.configs.find((one) => one.name === name) ?? tool.default_config;
      return config.enabled;
    });
  });
}
