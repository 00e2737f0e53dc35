import type { AgentCreateParams, ToolParams } from '@fleetloom/protocol/managed-agents';
import type { ServerApi } from '../connection/server-api.ts';
import type { AgentFile } from './agent-file.ts';

/**
 * The programs among the engines of these agents that run without a sandbox, with the full access of the user who runs the
 * server: their tool calls need an approval by default. The server knows which names are programs, so the result is also right
 * for engines that this version of the command line does not know.
 */
export async function findUnsandboxedPrograms(
  api: Pick<ServerApi, 'get'>,
  agents: readonly AgentFile[],
  defaultModel: string,
): Promise<ReadonlySet<string>> {
  const models = agents.length === 0 ? [defaultModel] : agents.map(({ model }) => model ?? defaultModel);
  const names = [...new Set(models.map(toEngineName).filter((name) => name !== undefined))];
  const programs = await Promise.all(
    // The request fails for a name that is not a program. If the server cannot be reached, saving the agents fails too and reports the reason.
    names.map((name) =>
      api.get<{ is_sandboxed: boolean }>(`/v1/programs/${encodeURIComponent(name)}`).catch(() => undefined),
    ),
  );
  return new Set(names.filter((_, at) => programs[at]?.is_sandboxed === false));
}

/** The agent with an approval for each tool call if its program is in `unsandboxed`, unless the agent file sets a policy. */
export function withApproval(agent: AgentFile, defaultModel: string, unsandboxed: ReadonlySet<string>): AgentFile {
  const name = toEngineName(agent.model ?? defaultModel);
  if (name === undefined || !unsandboxed.has(name)) return agent;
  return { ...agent, tools: agent.tools.map(requireApproval) };
}

function requireApproval(tool: ToolParams): ToolParams {
  if (tool.type !== 'agent_toolset_20260401' || tool.default_config?.permission_policy != null) return tool;
  const asking = { permission_policy: { type: 'always_ask' as const } };
  return {
    ...tool,
    default_config: { ...asking, ...tool.default_config },
    ...(tool.configs === undefined ? {} : { configs: tool.configs.map((config) => ({ ...asking, ...config })) }),
  };
}

/** The name of the engine in front of the model, `codex` of `codex/default`. Undefined for models without an engine name. */
function toEngineName(model: AgentCreateParams['model']): string | undefined {
  const id = typeof model === 'string' ? model : model.id;
  const [name, rest] = id.split('/', 2);
  return rest === undefined || name === '' || name === 'scripted' ? undefined : name;
}
