import type { AgentCreateParams, ToolParams } from '@fleetloom/protocol/managed-agents';
import type { ServerApi } from '../connection/server-api.ts';
import type { AgentFile } from './agent-file.ts';

/**
 * Whether the agents' tool calls need an approval by default: their program runs without a sandbox, with everything that the user of the
 * server can do.
 */
export async function mustAskFirst(
  api: Pick<ServerApi, 'get'>,
  agents: readonly AgentFile[],
  defaultModel: string,
): Promise<boolean> {
  if (!agents.some(({ model }) => isProgram(model ?? defaultModel))) return false;
  // A server that does not answer refuses the agents too, with its reason.
  const program = await api.get<{ is_sandboxed: boolean }>('/v1/programs/claude-code').catch(() => undefined);
  return program?.is_sandboxed === false;
}

/** With an approval for each call, unless the file has a policy of its own. */
export function withAskFirst(agent: AgentFile, defaultModel: string): AgentFile {
  if (!isProgram(agent.model ?? defaultModel)) return agent;
  return { ...agent, tools: agent.tools.map(askFirst) };
}

function askFirst(tool: ToolParams): ToolParams {
  if (tool.type !== 'agent_toolset_20260401' || tool.default_config?.permission_policy != null) return tool;
  const asking = { permission_policy: { type: 'always_ask' as const } };
  return {
    ...tool,
    default_config: { ...asking, ...tool.default_config },
    ...(tool.configs === undefined ? {} : { configs: tool.configs.map((config) => ({ ...asking, ...config })) }),
  };
}

function isProgram(model: AgentCreateParams['model']): boolean {
  return (typeof model === 'string' ? model : model.id).startsWith('claude-code/');
}
