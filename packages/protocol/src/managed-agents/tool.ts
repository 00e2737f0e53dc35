// What an agent may use. `…Params` is what a caller sends, the name without it is what we answer: everything filled in.

/** The built-in tools, in the order in which they are offered to a model. */
export const builtInToolNames = ['bash', 'read', 'write', 'edit', 'glob', 'grep', 'web_fetch', 'web_search'] as const;
export type BuiltInToolName = (typeof builtInToolNames)[number];

/**
 * Whether a call needs somebody's consent. With `auto` the server judges each call; one that it cannot judge is asked.
 */
export type PermissionPolicy =
  | { readonly type: 'always_allow' }
  | { readonly type: 'always_ask' }
  | { readonly type: 'auto' };

/** How all tools of a set are treated that have no config of their own. */
export interface ToolsetDefaultConfig {
  readonly enabled: boolean;
  readonly permission_policy: PermissionPolicy;
}
export interface ToolsetDefaultConfigParams {
  readonly enabled?: boolean | null;
  readonly permission_policy?: PermissionPolicy | null;
}

/** The built-in tools, `default_config` and then `configs` over them. */
export interface AgentToolset {
  readonly type: 'agent_toolset_20260401';
  readonly default_config: ToolsetDefaultConfig;
  readonly configs: readonly BuiltInToolConfig[];
}
export interface AgentToolsetParams {
  readonly type: 'agent_toolset_20260401';
  readonly default_config?: ToolsetDefaultConfigParams | null;
  readonly configs?: readonly BuiltInToolConfigParams[];
}

export type BuiltInToolConfig = PlainToolConfig | WebFetchToolConfig | WebSearchToolConfig;
export type BuiltInToolConfigParams = PlainToolConfigParams | WebFetchToolConfigParams | WebSearchToolConfigParams;

/** The built-in tools that have nothing of their own to configure. */
export type PlainToolName = Exclude<BuiltInToolName, 'web_fetch' | 'web_search'>;
/** One form for each name: `type` is always the same as `name`. */
export type PlainToolConfig = {
  readonly [Name in PlainToolName]: ToolsetDefaultConfig & { readonly name: Name; readonly type: Name };
}[PlainToolName];
export type PlainToolConfigParams = {
  readonly [Name in PlainToolName]: ToolsetDefaultConfigParams & { readonly name: Name; readonly type?: Name };
}[PlainToolName];

/** Hosts and, for `web_search`, paths. One of the two lists at most, and no empty one. */
interface Domains {
  readonly allowed_domains?: readonly string[];
  readonly blocked_domains?: readonly string[];
}

export interface WebFetchToolConfig extends ToolsetDefaultConfig, Domains {
  readonly name: 'web_fetch';
  readonly type: 'web_fetch';
  /** Null: every address that the conversation has shown may be fetched. */
  readonly url_sources: UrlSources | null;
  readonly max_content_tokens?: number | null;
}
export interface WebFetchToolConfigParams extends ToolsetDefaultConfigParams, Domains {
  readonly name: 'web_fetch';
  readonly type?: 'web_fetch';
  readonly url_sources?: UrlSourcesParams | null;
  readonly max_content_tokens?: number | null;
}

/** Where an address has to have been seen to be fetched. A null key narrows nothing. */
export interface UrlSources {
  readonly user_input: AllOrNone | null;
  readonly client_tool_results: ToolFilter | null;
  readonly server_tool_results: ToolFilter | null;
}
export interface UrlSourcesParams {
  readonly user_input?: 'all' | 'none' | AllOrNone | null;
  readonly client_tool_results?: 'all' | 'none' | ToolFilter | null;
  readonly server_tool_results?: 'all' | 'none' | ToolFilter | null;
}
export type AllOrNone = { readonly type: 'all' } | { readonly type: 'none' };
export type ToolFilter =
  | AllOrNone
  | { readonly type: 'only'; readonly tools: readonly ToolReference[] }
  | { readonly type: 'except'; readonly tools: readonly ToolReference[] };
export interface ToolReference {
  readonly type: 'tool_reference';
  readonly name: string;
}

export interface WebSearchToolConfig extends ToolsetDefaultConfig, Domains {
  readonly name: 'web_search';
  readonly type: 'web_search';
  readonly user_location?: UserLocation | null;
}
export interface WebSearchToolConfigParams extends ToolsetDefaultConfigParams, Domains {
  readonly name: 'web_search';
  readonly type?: 'web_search';
  readonly user_location?: UserLocation | null;
}
export interface UserLocation {
  readonly type: 'approximate';
  readonly city?: string | null;
  /** Two capital letters. */
  readonly country?: string | null;
  readonly region?: string | null;
  /** `Europe/Zurich`. */
  readonly timezone?: string | null;
}

/** The tools of one of the agent's MCP servers. Which ones there are is known only once it is connected. */
export interface McpToolset {
  readonly type: 'mcp_toolset';
  readonly mcp_server_name: string;
  readonly default_config: ToolsetDefaultConfig;
  readonly configs: readonly McpToolConfig[];
}
export interface McpToolsetParams {
  readonly type: 'mcp_toolset';
  readonly mcp_server_name: string;
  readonly default_config?: ToolsetDefaultConfigParams | null;
  readonly configs?: readonly McpToolConfigParams[];
}
export interface McpToolConfig extends ToolsetDefaultConfig {
  readonly name: string;
}
export interface McpToolConfigParams extends ToolsetDefaultConfigParams {
  readonly name: string;
}

/** A tool that the client runs: the session waits for its result. Sent and answered in the same form. */
export interface CustomTool {
  readonly type: 'custom';
  /** 1 to 128 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  readonly input_schema: CustomToolInputSchema;
}
/** A JSON Schema of an object. */
export interface CustomToolInputSchema {
  readonly type: 'object';
  readonly properties?: { readonly [name: string]: unknown } | null;
  readonly required?: readonly string[] | null;
  readonly [keyword: string]: unknown;
}

export type Tool = AgentToolset | McpToolset | CustomTool;
export type ToolParams = AgentToolsetParams | McpToolsetParams | CustomTool;

/** Sent and answered in the same form. */
export interface McpServer {
  readonly type: 'url';
  readonly name: string;
  readonly url: string;
}
