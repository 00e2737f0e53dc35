import type {
  AgentToolset,
  AgentToolsetParams,
  AllOrNone,
  BuiltInToolConfig,
  BuiltInToolConfigParams,
  McpToolset,
  McpToolsetParams,
  PermissionPolicy,
  Tool,
  ToolFilter,
  ToolParams,
  ToolsetDefaultConfig,
  ToolsetDefaultConfigParams,
  UrlSources,
  UrlSourcesParams,
} from '@fleetloom/protocol/managed-agents';

/** Tools with everything filled in: a reader need not know any default. */
export function toTools(tools: readonly ToolParams[]): readonly Tool[] {
  return tools.map((tool) => {
    if (tool.type === 'custom') return tool;
    return tool.type === 'mcp_toolset' ? toMcpToolset(tool) : toAgentToolset(tool);
  });
}

function toAgentToolset({ type, default_config, configs = [] }: AgentToolsetParams): AgentToolset {
  const defaults = fill(default_config, { enabled: true, permission_policy: { type: 'always_allow' } });
  return { type, default_config: defaults, configs: configs.map((config) => toConfig(config, defaults)) };
}

/** Strangers wrote these tools, so a call is asked for unless somebody says otherwise. */
function toMcpToolset({ type, mcp_server_name, default_config, configs = [] }: McpToolsetParams): McpToolset {
  const defaults = fill(default_config, { enabled: true, permission_policy: { type: 'always_ask' } });
  const filled = configs.map((config) => ({ name: config.name, ...fill(config, defaults) }));
  return { type, mcp_server_name, default_config: defaults, configs: filled };
}

function toConfig(config: BuiltInToolConfigParams, defaults: ToolsetDefaultConfig): BuiltInToolConfig {
  const filled = fill(config, defaults);
  switch (config.name) {
    case 'web_fetch': {
      const { url_sources: sources, ...rest } = config;
      return { ...rest, ...filled, type: config.name, url_sources: sources ? toUrlSources(sources) : null };
    }
    case 'web_search':
      return { ...config, ...filled, type: config.name };
    default:
      // One of the plain tools: each has the same two words, which TypeScript does not see across the union.
      return { name: config.name, type: config.name, ...filled } as BuiltInToolConfig;
  }
}

/** What is said, else what is usual. Null says nothing. */
function fill(
  said: ToolsetDefaultConfigParams | null | undefined,
  usual: { enabled: boolean; permission_policy: PermissionPolicy },
): ToolsetDefaultConfig {
  return {
    enabled: said?.enabled ?? usual.enabled,
    permission_policy: said?.permission_policy ?? usual.permission_policy,
  };
}

function toUrlSources({ user_input, client_tool_results, server_tool_results }: UrlSourcesParams): UrlSources {
  return {
    user_input: toSource<AllOrNone>(user_input),
    client_tool_results: toSource<ToolFilter>(client_tool_results),
    server_tool_results: toSource<ToolFilter>(server_tool_results),
  };
}

function toSource<Source extends object>(
  source: Source | 'all' | 'none' | null | undefined,
): Source | AllOrNone | null {
  return typeof source === 'string' ? { type: source } : (source ?? null);
}
