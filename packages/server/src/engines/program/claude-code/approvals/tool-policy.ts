import type {
  AgentSnapshot,
  AgentToolset,
  BuiltInToolName,
  CustomTool,
  McpToolset,
  ToolsetDefaultConfig,
} from '@fleetloom/protocol/managed-agents';
import { findServerNameProblem as findProblem, TOOL_SERVER } from '../../mcp/server-names.ts';
import type { ProgramCall } from '../../program.ts';

/** The tools that one agent may use, by the names of the program. */
export interface ToolPolicy {
  /** The kind of a tool, and whether this agent may use it without approval. */
  readonly toolOf: (name: string) => CallTool;
  readonly customTools: readonly CustomTool[];
  /** The built-in tools of the agent; undefined: all tools of the program except those in `disabled`. */
  readonly builtins: readonly string[] | undefined;
  readonly disabled: readonly string[];
  /** The built-in tools that need an approval for each call. */
  readonly asked: readonly string[];
}

/** The kind of a called tool. `denied`: the definition of the agent does not include the tool. */
export type CallTool = ProgramCall['tool'] | { readonly kind: 'denied'; readonly message: string };

/** The program's names of the server's built-in tools. One tool of the server may be several tools of the program. */
export const programTools: Readonly<Record<BuiltInToolName, readonly string[]>> = {
  // Monitor runs a command until its output matches; worktrees are made by git, which runs hooks.
  bash: ['Bash', 'Monitor', 'EnterWorktree', 'ExitWorktree'],
  read: ['Read'],
  write: ['Write'],
  edit: ['Edit', 'NotebookEdit'],
  glob: ['Glob'],
  grep: ['Grep'],
  web_fetch: ['WebFetch'],
  web_search: ['WebSearch'],
};

/** The tool that starts a sub-agent. Older releases call it `Task`. */
const AGENT_TOOLS = new Set(['Agent', 'Task']);

/** The tool that asks people questions. Its result comes from a client, like the result of a custom tool. */
export const QUESTION_TOOL = 'AskUserQuestion';

/** The tools that enter and leave plan mode. A person approves each plan, even if the definition allows the tools without approval. */
export const PLAN_TOOLS: ReadonlySet<string> = new Set(['EnterPlanMode', 'ExitPlanMode']);

/** Tools of the program that change nothing outside it, or only start work that needs its own approval. */
const HARMLESS_TOOLS: ReadonlySet<string> = new Set([
  'BashOutput',
  'CronCreate',
  'CronDelete',
  'CronList',
  'KillBash',
  'KillShell',
  'ListMcpResources',
  'ListMcpResourcesTool',
  'ReadMcpResource',
  'ReadMcpResourceTool',
  'ScheduleWakeup',
  'SendMessage',
  'Skill',
  'SlashCommand',
  'StructuredOutput',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskOutput',
  'TaskStop',
  'TaskUpdate',
  'TodoWrite',
  'ToolSearch',
  'Workflow',
]);

const NO_TOOLS: ToolsetDefaultConfig = { enabled: false, permission_policy: { type: 'always_ask' } };

/** Why the program could not distinguish the MCP servers of these agents, or their tools. Null if it can. */
export function findServerNameProblem(agents: readonly Pick<AgentSnapshot, 'mcp_servers'>[]): string | null {
  return findProblem(
    agents,
    (name) => toQualified(name, ''),
    (ownName) => `the program, ${ownName.slice(0, -2)}`,
  );
}

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
      const server = servers
        .filter((each) => name.startsWith(toQualified(each.name, '')))
        // `a__b` before `a`: the tool `c` of the first is not the tool `b__c` of the second.
        .toSorted((one, other) => other.name.length - one.name.length)[0];
      if (server !== undefined) return toMcpTool(server.name, name, mcpToolsets);
      if (name.startsWith('mcp__')) return denied(name);
      const choice = choices.get(name);
      // Task lists and similar tools change nothing outside the program, so definitions do not mention them.
      if (choice === undefined && HARMLESS_TOOLS.has(name)) return { kind: 'builtin', permission: 'allow' };
      // A tool that this server does not know may do anything.
      if (choice === undefined)
        return { kind: 'builtin', permission: toPermission(toolset?.default_config ?? NO_TOOLS) };
      return choice.enabled ? { kind: 'builtin', permission: toPermission(choice) } : denied(name);
    },
  };
}

/** The program's name of a tool of an MCP server. */
export function toQualified(serverName: string, toolName: string): string {
  return `mcp__${serverName.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}__${toolName}`;
}

function toChoices(toolset: AgentToolset | undefined): ReadonlyMap<string, ToolsetDefaultConfig> {
  const all = Object.entries(programTools).flatMap(([ours, theirs]) => {
    const own = toolset?.configs.find(({ name }) => name === ours) ?? toolset?.default_config ?? NO_TOOLS;
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

/** `auto` counts as `ask`: this server has no judge that could decide. */
function toPermission({ permission_policy: policy }: ToolsetDefaultConfig): 'allow' | 'ask' {
  return policy.type === 'always_allow' ? 'allow' : 'ask';
}

function denied(name: string): CallTool {
  return { kind: 'denied', message: `The tool ${name} is not available to this agent.` };
}
