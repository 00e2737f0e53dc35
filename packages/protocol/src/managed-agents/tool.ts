// The tools of an agent. `…Params` is what a client sends; the name without it is the response, with all defaults filled in.

/** The built-in tools with their traits, in the order in which a model sees them. */
export const builtInTools: { readonly [Name in BuiltInToolName]: BuiltInToolTraits } = {
  bash: { runsIn: 'workspace', hasShell: true },
  read: { runsIn: 'workspace', opensFiles: true },
  write: { runsIn: 'workspace', writesFiles: true },
  edit: { runsIn: 'workspace' },
  glob: { runsIn: 'workspace' },
  grep: { runsIn: 'workspace' },
  web_fetch: { runsIn: 'server', isWebTool: true, hasUrlSources: true },
  web_search: { runsIn: 'server', isWebTool: true, hasUserLocation: true },
};

/** The names of {@link builtInTools}, in the same order. */
// The cast: Object.keys returns strings; these are the keys of the record above.
export const builtInToolNames = Object.keys(builtInTools) as readonly BuiltInToolName[];

/** A built-in tool that works on the files of the session. */
export type WorkspaceToolName = 'bash' | 'read' | 'write' | 'edit' | 'glob' | 'grep';
/** A built-in tool that reaches the web and can be limited to domains. */
export type WebToolName = 'web_fetch' | 'web_search';
/** A built-in tool, by its name on the wire. */
export type BuiltInToolName = WorkspaceToolName | WebToolName;

/** Facts about a built-in tool that code depends on, so that it does not have to compare names. */
export interface BuiltInToolTraits {
  /** `workspace`: the tool works on the files of the session, so in a self-hosted environment its worker runs it. */
  readonly runsIn: 'workspace' | 'server';
  /** Whether the tool keeps a shell between the calls of a thread. */
  readonly hasShell?: true;
  /** Whether the tool returns the content of a file, which skills need. */
  readonly opensFiles?: true;
  /** Whether its input has the path and the whole content of a file. */
  readonly writesFiles?: true;
  /** Whether the tool reaches the web, and has `allowed_domains` and `blocked_domains`. */
  readonly isWebTool?: true;
  /** Whether the tool has `url_sources` and `max_content_tokens`. */
  readonly hasUrlSources?: true;
  /** Whether the tool has `user_location`. */
  readonly hasUserLocation?: true;
}

/** The traits of a built-in tool, or `undefined` for the name of any other tool. */
export function findBuiltInTool(name: string): BuiltInToolTraits | undefined {
  return Object.hasOwn(builtInTools, name) ? builtInTools[name as BuiltInToolName] : undefined;
}

/**
 * Whether a tool call needs approval. With `auto` the server decides about each call, and requests an approval if it cannot.
 */
export type PermissionPolicy =
  | { readonly type: 'always_allow' }
  | { readonly type: 'always_ask' }
  | { readonly type: 'auto' };

/** The config of all tools of a set without a config of their own. */
export interface ToolsetDefaultConfig {
  readonly enabled: boolean;
  readonly permission_policy: PermissionPolicy;
}
/** The default config as a client sends it. */
export interface ToolsetDefaultConfigParams {
  readonly enabled?: boolean | null;
  readonly permission_policy?: PermissionPolicy | null;
}

/** The built-in tools. `configs` override `default_config`. */
export interface AgentToolset {
  readonly type: 'agent_toolset_20260401';
  readonly default_config: ToolsetDefaultConfig;
  readonly configs: readonly BuiltInToolConfig[];
}
/** The built-in tools as a client sends them. */
export interface AgentToolsetParams {
  readonly type: 'agent_toolset_20260401';
  readonly default_config?: ToolsetDefaultConfigParams | null;
  readonly configs?: readonly BuiltInToolConfigParams[];
}

/** The config of one built-in tool. */
export type BuiltInToolConfig = PlainToolConfig | WebFetchToolConfig | WebSearchToolConfig;
/** The config of one built-in tool, as a client sends it. */
export type BuiltInToolConfigParams = PlainToolConfigParams | WebFetchToolConfigParams | WebSearchToolConfigParams;

/** The built-in tools without further options. */
export type PlainToolName = Exclude<BuiltInToolName, WebToolName>;
/** One variant for each name: `type` always equals `name`. */
export type PlainToolConfig = {
  readonly [Name in PlainToolName]: ToolsetDefaultConfig & { readonly name: Name; readonly type: Name };
}[PlainToolName];
/** The config of a built-in tool without further options, as a client sends it. */
export type PlainToolConfigParams = {
  readonly [Name in PlainToolName]: ToolsetDefaultConfigParams & { readonly name: Name; readonly type?: Name };
}[PlainToolName];

/** Hosts and, for `web_search`, paths. At most one of the two lists is allowed, and it must not be empty. */
interface Domains {
  readonly allowed_domains?: readonly string[];
  readonly blocked_domains?: readonly string[];
}

/** The config of `web_fetch`. */
export interface WebFetchToolConfig extends ToolsetDefaultConfig, Domains {
  readonly name: 'web_fetch';
  readonly type: 'web_fetch';
  /** Limits the URLs; null: every URL that has appeared in the conversation may be fetched. */
  readonly url_sources: UrlSources | null;
  readonly max_content_tokens?: number | null;
}
/** The config of `web_fetch`, as a client sends it. */
export interface WebFetchToolConfigParams extends ToolsetDefaultConfigParams, Domains {
  readonly name: 'web_fetch';
  readonly type?: 'web_fetch';
  readonly url_sources?: UrlSourcesParams | null;
  readonly max_content_tokens?: number | null;
}

/** Where a URL must have appeared to be fetched. A null field does not restrict. */
export interface UrlSources {
  readonly user_input: AllOrNone | null;
  readonly client_tool_results: ToolFilter | null;
  readonly server_tool_results: ToolFilter | null;
}
/** The URL sources of `web_fetch`, as a client sends them. */
export interface UrlSourcesParams {
  readonly user_input?: 'all' | 'none' | AllOrNone | null;
  readonly client_tool_results?: 'all' | 'none' | ToolFilter | null;
  readonly server_tool_results?: 'all' | 'none' | ToolFilter | null;
}
/** A filter for all or no tools. */
export type AllOrNone = { readonly type: 'all' } | { readonly type: 'none' };
/** A set of tools. */
export type ToolFilter =
  | AllOrNone
  | { readonly type: 'only'; readonly tools: readonly ToolReference[] }
  | { readonly type: 'except'; readonly tools: readonly ToolReference[] };
/** A tool by its name. */
export interface ToolReference {
  readonly type: 'tool_reference';
  readonly name: string;
}

/** The config of `web_search`. */
export interface WebSearchToolConfig extends ToolsetDefaultConfig, Domains {
  readonly name: 'web_search';
  readonly type: 'web_search';
  readonly user_location?: UserLocation | null;
}
/** The config of `web_search`, as a client sends it. */
export interface WebSearchToolConfigParams extends ToolsetDefaultConfigParams, Domains {
  readonly name: 'web_search';
  readonly type?: 'web_search';
  readonly user_location?: UserLocation | null;
}
/** Where the user is, for search results. */
export interface UserLocation {
  readonly type: 'approximate';
  readonly city?: string | null;
  /** The country code: two capital letters. */
  readonly country?: string | null;
  readonly region?: string | null;
  /** The time zone, such as `Europe/Zurich`. */
  readonly timezone?: string | null;
}

/** The tools of one of the agent's MCP servers, which are known only once the server is connected. */
export interface McpToolset {
  readonly type: 'mcp_toolset';
  readonly mcp_server_name: string;
  readonly default_config: ToolsetDefaultConfig;
  readonly configs: readonly McpToolConfig[];
}
/** The tools of an MCP server, as a client sends them. */
export interface McpToolsetParams {
  readonly type: 'mcp_toolset';
  readonly mcp_server_name: string;
  readonly default_config?: ToolsetDefaultConfigParams | null;
  readonly configs?: readonly McpToolConfigParams[];
}
/** The config of one MCP tool. */
export interface McpToolConfig extends ToolsetDefaultConfig {
  readonly name: string;
}
/** The config of one MCP tool, as a client sends it. */
export interface McpToolConfigParams extends ToolsetDefaultConfigParams {
  readonly name: string;
}

/** A tool that the client runs: the session waits for its result. Requests and responses have the same form. */
export interface CustomTool {
  readonly type: 'custom';
  /** The name: 1 to 128 letters, digits, `_` and `-`. */
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

/** A tool, or a set of tools, of an agent. */
export type Tool = AgentToolset | McpToolset | CustomTool;
/** A tool as a client sends it. */
export type ToolParams = AgentToolsetParams | McpToolsetParams | CustomTool;

/** An MCP server of an agent. Requests and responses have the same form. */
export interface McpServer {
  readonly type: 'url';
  readonly name: string;
  readonly url: string;
}
