import type {
  AgentSnapshot,
  AgentToolset,
  BuiltInToolName,
  CustomTool,
  McpToolset,
  ToolsetDefaultConfig,
} from '@fleetloom/protocol/managed-agents';
import type { ProgramCall } from '../program.ts';

/** What one agent may use, in the names of the program. */
export interface ToolPolicy {
  /** What a tool is, and whether this agent may use it unasked. */
  readonly toolOf: (name: string) => CallTool;
  readonly customTools: readonly CustomTool[];
  /** Its own built-in tools; undefined: all that the program has, but for those in `disabled`. */
  readonly builtins: readonly string[] | undefined;
  readonly disabled: readonly string[];
  /** Those of which it has to ask for each call. */
  readonly asked: readonly string[];
}

/** `denied`: its definition does not give it the tool. */
export type CallTool = ProgramCall['tool'] | { readonly kind: 'denied'; readonly message: string };

/** What the server's own tools are called there. One of ours may be several of the program's. */
export const programTools: Readonly<Record<BuiltInToolName, readonly string[]>> = {
  bash: ['Bash'],
  read: ['Read'],
  write: ['Write'],
  edit: ['Edit', 'NotebookEdit'],
  glob: ['Glob'],
  grep: ['Grep'],
  web_fetch: ['WebFetch'],
  web_search: ['WebSearch'],
};

/** The server that the program reaches over its own control channel: custom tools are there. */
export const TOOL_SERVER = 'fleetloom';

/** Older releases call it `Task`. */
const AGENT_TOOLS = new Set(['Agent', 'Task']);

/** It asks people, so its result comes from outside as that of a custom tool does. */
export const QUESTION_TOOL = 'AskUserQuestion';

/** They enter and leave plan mode. A plan is a person's to approve, whatever the definition allows unasked. */
export const PLAN_TOOLS: ReadonlySet<string> = new Set(['EnterPlanMode', 'ExitPlanMode']);

/** Reads the definition of an agent. */
export function toToolPolicy({
  tools,
  mcp_servers: servers,
}: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>): ToolPolicy {
  const toolset = tools.find((tool): tool is AgentToolset => tool.type === 'agent_toolset_20260401');
  const mcpToolsets = tools.filter((tool): tool is McpToolset => tool.type === 'mcp_toolset');
  const customTools = tools.filter((tool): tool is CustomTool => tool.type === 'custom');
  const choices = toChoices(toolset);
  const namesOf = (holds: (choice: ToolsetDefaultConfig) => boolean) =>
    [...choices].flatMap(([name, choice]) => (holds(choice) ? [name] : []));
  const isOpen = toolset?.default_config.enabled === true;

  return {
    customTools,
    builtins: isOpen ? undefined : namesOf(({ enabled }) => enabled),
    disabled: namesOf(({ enabled }) => !enabled),
    asked: namesOf(({ enabled, permission_policy: policy }) => enabled && policy.type !== 'always_allow'),
    toolOf: (name) => {
      if (AGENT_TOOLS.has(name)) return { kind: 'agent' };
      if (name === QUESTION_TOOL) return { kind: 'custom', toolName: name, isQuestion: true };
      if (PLAN_TOOLS.has(name)) return { kind: 'builtin', permission: 'ask' };
      const custom = customTools.find((tool) => toQualified(TOOL_SERVER, tool.name) === name);
      if (custom !== undefined) return { kind: 'custom', toolName: custom.name };
      const server = servers.find((each) => name.startsWith(toQualified(each.name, '')));
      if (server !== undefined) return toMcpTool(server.name, name, mcpToolsets);
      if (name.startsWith('mcp__')) return denied(name);
      const choice = choices.get(name);
      // Its task lists and the like change nothing outside the program, so definitions do not mention them.
      if (choice === undefined) return { kind: 'builtin', permission: 'allow' };
      return choice.enabled ? { kind: 'builtin', permission: toPermission(choice) } : denied(name);
    },
  };
}

/** How the program names the tool of an MCP server. */
export function toQualified(serverName: string, toolName: string): string {
  return `mcp__${serverName.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}__${toolName}`;
}

function toChoices(toolset: AgentToolset | undefined): ReadonlyMap<string, ToolsetDefaultConfig> {
  const none: ToolsetDefaultConfig = { enabled: false, permission_policy: { type: 'always_ask' } };
  const all = Object.entries(programTools).flatMap(([ours, theirs]) => {
    const own = toolset?.configs.find(({ name }) => name === ours) ?? toolset?.default_config ?? none;
    return theirs.map((name) => [name, own] as const);
  });
  return new Map(all);
}

function toMcpTool(serverName: string, name: string, toolsets: readonly McpToolset[]): CallTool {
  const toolName = name.slice(toQualified(serverName, '').length);
  const toolset = toolsets.find(({ mcp_server_name: of }) => of === serverName);
  const choice = toolset?.configs.find((config) => config.name === toolName) ?? toolset?.default_config;
  if (choice === undefined || !choice.enabled) return denied(name);
  return { kind: 'mcp', permission: toPermission(choice), serverName, toolName };
}

/** `auto` leaves it to a judge, and there is none. */
function toPermission({ permission_policy: policy }: ToolsetDefaultConfig): 'allow' | 'ask' {
  return policy.type === 'always_allow' ? 'allow' : 'ask';
}

function denied(name: string): CallTool {
  return { kind: 'denied', message: `The tool ${name} is not available to this agent.` };
}
