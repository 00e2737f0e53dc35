import {
  type AgentToolset,
  type BuiltInToolConfig,
  type BuiltInToolName,
  builtInToolNames,
  builtInTools,
  type CustomTool,
  MERGE_TOOL,
  type McpServer,
  type McpToolset,
  type Skill,
  type Tool,
  type ToolFilter,
  type WebToolName,
} from '@fleetloom/protocol/managed-agents';
import { isDeeper } from '../base/json/is-deeper.ts';
import { agentLimits } from './limits.ts';
import { baseLimits } from '../base/limits.ts';
import { agentError } from './agent-errors.ts';
import { findRepeated } from './find-repeated.ts';

/** The parts of an agent that are checked together. */
export interface ToolOwner {
  readonly tools: readonly Tool[];
  readonly mcp_servers: readonly McpServer[];
  readonly skills: readonly Skill[];
  /** Whether the agent gets the tools for delegating. */
  readonly isCoordinator: boolean;
}

/** Checks that the tools, MCP servers and skills of an agent fit together. Throws an {@link agentError}. */
export function checkTools(owner: ToolOwner): void {
  checkCount(owner.tools);
  checkRepeated(owner.tools);
  checkCustomTools(owner);
  checkWebTools(owner.tools);
  checkServers(owner.tools, owner.mcp_servers);
  checkSkills(owner.tools, owner.skills);
}

/** The tools by which a coordinator reaches the agents of its roster. */
export const delegationToolNames = ['list_agents', 'send_to_agent', 'delegate'] as const;

/** How many tools an MCP server has is not known yet: it counts as one, or as many as are configured. */
function checkCount(tools: readonly Tool[]): void {
  const counts = tools.map((tool) => {
    if (tool.type === 'custom') return 1;
    return tool.type === 'mcp_toolset' ? Math.max(1, tool.configs.length) : builtInToolNames.length;
  });
  const count = counts.reduce((sum, each) => sum + each, 0);
  if (count <= agentLimits.agentToolsMax) return;
  throw agentError('too_many_tools', `the agent has ${count} tools, and ${agentLimits.agentToolsMax} are allowed`);
}

/** Two entries for the same tool could contradict each other. */
function checkRepeated(tools: readonly Tool[]): void {
  const sets = tools.filter((tool) => tool.type !== 'custom');
  const names = [
    ...tools.map((tool) => {
      if (tool.type === 'custom') return `the custom tool ${tool.name}`;
      return tool.type === 'mcp_toolset' ? `the mcp_toolset of ${tool.mcp_server_name}` : tool.type;
    }),
    ...sets.flatMap((set) => set.configs.map(({ name }) => `the config of ${name} in ${nameOf(set)}`)),
  ];
  const repeated = findRepeated(names);
  if (repeated !== undefined) throw agentError('tool_repeated', `${repeated} is there twice`);
}

function nameOf(set: AgentToolset | McpToolset): string {
  return set.type === 'mcp_toolset' ? set.mcp_server_name : set.type;
}

function checkCustomTools({ tools, isCoordinator }: ToolOwner): void {
  const taken = new Set<string>([
    ...builtInToolNames.filter((name) => isEnabled(tools, name)),
    ...(isCoordinator ? [...delegationToolNames, MERGE_TOOL] : []),
  ]);
  for (const { name, input_schema: schema } of customTools(tools)) {
    if (!isToolName(name)) throw agentError('invalid_tool_name', `a tool cannot be called ${JSON.stringify(name)}`);
    if (taken.has(name)) throw agentError('tool_name_taken', `the agent has another tool called ${name}`);
    if (isDeeper(schema, baseLimits.contentDepthMax)) {
      const problem = `the input_schema of ${name} has more than ${baseLimits.contentDepthMax} levels`;
      throw agentError('invalid_tool_schema', problem);
    }
  }
}

function isToolName(name: string): boolean {
  return name.length <= baseLimits.toolNameCharsMax && /^[a-zA-Z0-9_-]+$/.test(name);
}

function checkWebTools(tools: readonly Tool[]): void {
  for (const config of tools.flatMap((tool) => (tool.type === 'agent_toolset_20260401' ? tool.configs : []))) {
    if (!isWebTool(config)) continue;
    const { name, allowed_domains: allowed, blocked_domains: blocked } = config;
    if (allowed !== undefined && blocked !== undefined) {
      throw agentError('invalid_domains', `${name} has domains that are allowed and others that are blocked`);
    }
    if ([allowed, blocked].some((domains) => domains?.length === 0)) {
      throw agentError('invalid_domains', `${name} has an empty list of domains`);
    }
    if (!('url_sources' in config) || config.url_sources === null) continue;
    const { user_input, client_tool_results, server_tool_results } = config.url_sources;
    if ([user_input, client_tool_results, server_tool_results].every((source) => source?.type === 'none')) {
      throw agentError('invalid_url_sources', 'url_sources closes every source, so that nothing could be fetched');
    }
    checkSource(client_tool_results, 'custom tool', new Set(customTools(tools).map((tool) => tool.name)));
    checkSource(
      server_tool_results,
      'web tool',
      new Set(builtInToolNames.filter((name) => builtInTools[name].isWebTool)),
    );
  }
}

function isWebTool(config: BuiltInToolConfig): config is Extract<BuiltInToolConfig, { readonly name: WebToolName }> {
  return builtInTools[config.name].isWebTool === true;
}

function checkSource(source: ToolFilter | null, kind: string, names: ReadonlySet<string>): void {
  if (source?.type !== 'only' && source?.type !== 'except') return;
  const unknown = source.tools.find(({ name }) => !names.has(name));
  if (unknown === undefined) return;
  throw agentError('invalid_url_sources', `url_sources names ${unknown.name}, and there is no such ${kind}`);
}

function checkServers(tools: readonly Tool[], servers: readonly McpServer[]): void {
  if (servers.length > agentLimits.mcpServersMax) {
    const problem = `the agent has ${servers.length} MCP servers, and ${agentLimits.mcpServersMax} are allowed`;
    throw agentError('too_many_mcp_servers', problem);
  }
  const names = servers.map(({ name }) => name);
  const repeated = findRepeated(names);
  if (repeated !== undefined) throw agentError('mcp_server_repeated', `two MCP servers are called ${repeated}`);
  const used = tools.flatMap((tool) => (tool.type === 'mcp_toolset' ? [tool.mcp_server_name] : []));
  const unknown = used.find((name) => !names.includes(name));
  if (unknown !== undefined) throw agentError('mcp_server_unknown', `no MCP server is called ${unknown}`);
  const unused = names.find((name) => !used.includes(name));
  if (unused !== undefined) throw agentError('mcp_server_unused', `no toolset uses the MCP server ${unused}`);
}

/** A skill is a file that the agent has to be able to open. */
function checkSkills(tools: readonly Tool[], skills: readonly Skill[]): void {
  const canOpenFiles = builtInToolNames.some((name) => builtInTools[name].opensFiles && isEnabled(tools, name));
  if (skills.length === 0 || canOpenFiles) return;
  throw agentError('skills_need_read', 'the agent has skills and cannot read them');
}

function isEnabled(tools: readonly Tool[], name: BuiltInToolName): boolean {
  const set = tools.find((tool): tool is AgentToolset => tool.type === 'agent_toolset_20260401');
  return (set?.configs.find((config) => config.name === name) ?? set?.default_config)?.enabled ?? false;
}

function customTools(tools: readonly Tool[]): readonly CustomTool[] {
  return tools.filter((tool) => tool.type === 'custom');
}
