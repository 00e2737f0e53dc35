import {
  type AgentToolset,
  type AgentToolsetParams,
  type AllOrNone,
  type BuiltInToolConfig,
  type BuiltInToolConfigParams,
  builtInTools,
  type McpToolset,
  type McpToolsetParams,
  type PermissionPolicy,
  type Tool,
  type ToolFilter,
  type ToolParams,
  type ToolsetDefaultConfig,
  type ToolsetDefaultConfigParams,
  type UrlSources,
  type UrlSourcesParams,
  type WebFetchToolConfigParams,
} from '@fleetloom/protocol/managed-agents';

/** Tools with all defaults filled in, as they are stored and returned. */
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

/** MCP tools are third-party code, so a call needs an approval unless the agent says otherwise. */
function toMcpToolset({ type, mcp_server_name, default_config, configs = [] }: McpToolsetParams): McpToolset {
  const defaults = fill(default_config, { enabled: true, permission_policy: { type: 'always_ask' } });
  const filled = configs.map((config) => ({ name: config.name, ...fill(config, defaults) }));
  return { type, mcp_server_name, default_config: defaults, configs: filled };
}

function toConfig(config: BuiltInToolConfigParams, defaults: ToolsetDefaultConfig): BuiltInToolConfig {
  const filled = fill(config, defaults);
  if (hasUrlSources(config)) {
    const { url_sources: sources, ...rest } = config;
    return { ...rest, ...filled, type: config.name, url_sources: sources ? toUrlSources(sources) : null };
  }
  // `type` has the same value as `name`, which TypeScript does not see across the union.
  return { ...config, ...filled, type: config.name } as BuiltInToolConfig;
}

function hasUrlSources(config: BuiltInToolConfigParams): config is WebFetchToolConfigParams {
  return builtInTools[config.name].hasUrlSources === true;
}

/** The given values, else the defaults. Null counts as not given. */
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
