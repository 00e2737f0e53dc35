import {
  type AgentSnapshot,
  builtInToolNames,
  type BuiltInToolName,
  type CustomTool,
  type McpToolset,
} from '@fleetloom/protocol/managed-agents';
import { findServerNameProblem as findProblem, TOOL_SERVER } from '../../mcp/server-names.ts';
import type { ProgramCall } from '../../program.ts';
import { type ToolChoices, toToolChoices } from '../../tool-choices.ts';

/** The tools that one agent may use, by opencode's names. */
export interface ToolPolicy {
  /** The kind of a tool, and whether the agent may use it without an approval. */
  readonly toolOf: (name: string) => ProgramCall['tool'];
  /** The `permission` of the agent in opencode's configuration. The last entry that matches a tool decides. */
  readonly permissions: Readonly<Record<string, PermissionAction>>;
}

/** The action of opencode's configuration for a call. */
export type PermissionAction = 'allow' | 'ask' | 'deny';

/** The tool that asks people questions. */
export const QUESTION_TOOL = 'question';

/** The tool that starts a sub-agent. */
const AGENT_TOOL = 'task';

/** Tools of opencode that do the same as another tool and have its permission. */
const alike: ReadonlyMap<string, string> = new Map([
  ['apply_patch', 'edit'],
  ['codesearch', 'websearch'],
  ['list', 'read'],
  ['lsp', 'read'],
  ['multiedit', 'edit'],
  ['patch', 'edit'],
]);

/** Tools whose permission opencode's configuration has under the name of another tool. */
const sharedKeys: ReadonlyMap<string, string> = new Map([['write', 'edit']]);

/** Tools that change nothing outside of opencode, and `invalid`, the report of an unknown tool or an invalid input. */
const harmless = ['todowrite', 'todoread', 'skill', 'invalid', 'plan_enter', 'plan_exit'] as const;

/** Why opencode could not distinguish the MCP servers of these agents. Null if it can. */
export function findServerNameProblem(agents: readonly Pick<AgentSnapshot, 'mcp_servers'>[]): string | null {
  return findProblem(
    agents,
    (name) => toQualified(name, ''),
    () => 'opencode',
  );
}

/** Reads the definition of an agent. */
export function toToolPolicy(agent: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>): ToolPolicy {
  const { tools, mcp_servers: servers } = agent;
  const choices = toToolChoices(agent);
  const customTools = tools.filter((tool): tool is CustomTool => tool.type === 'custom');
  const builtins = new Map(builtInToolNames.map((name) => [toOwnName(name), choices.builtin(name)]));
  const otherwise = choices.unknown;
  return {
    permissions: {
      '*': otherwise,
      ...toKeys(builtins),
      ...toMcpPermissions(servers, tools, choices),
      ...Object.fromEntries(customTools.map(({ name }) => [toQualified(TOOL_SERVER, name), 'allow' as const])),
      ...Object.fromEntries(harmless.map((name) => [name, 'allow' as const])),
      [QUESTION_TOOL]: 'allow',
      // The approval of the call itself decides: a second approval for the same call would only repeat it.
      external_directory: 'allow',
      doom_loop: 'allow',
    },
    toolOf: (name) => {
      if (name === AGENT_TOOL) return { kind: 'agent' };
      if (name === QUESTION_TOOL) return { kind: 'custom', toolName: name, isQuestion: true };
      const custom = customTools.find((tool) => toQualified(TOOL_SERVER, tool.name) === name);
      if (custom !== undefined) return { kind: 'custom', toolName: custom.name };
      const known = builtins.get(alike.get(name) ?? name);
      if (known !== undefined) return { kind: 'builtin', permission: known };
      const server = findServer(name, servers);
      if (server !== undefined) return toMcpTool(server.name, name, tools, choices);
      const isHarmless = harmless.some((each) => each === name);
      return { kind: 'builtin', permission: isHarmless ? 'allow' : otherwise };
    },
  };
}

/** opencode's name of a built-in tool: the same name without underscores. */
function toOwnName(name: BuiltInToolName): string {
  return name.replaceAll('_', '');
}

/** opencode's name of a tool of an MCP server. */
export function toQualified(serverName: string, toolName: string): string {
  return `${serverName}_${toolName}`.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
}

/** The permissions by opencode's keys. One key may be several tools of this server: if they differ, opencode asks, and the engine decides. */
function toKeys(builtins: ReadonlyMap<string, PermissionAction>): Record<string, PermissionAction> {
  const byKey = new Map<string, PermissionAction>();
  for (const [name, action] of builtins) {
    const key = sharedKeys.get(name) ?? name;
    const known = byKey.get(key);
    byKey.set(key, known === undefined || known === action ? action : 'ask');
  }
  for (const [name, of] of alike) byKey.set(name, byKey.get(of) ?? 'deny');
  return Object.fromEntries(byKey);
}

function toMcpPermissions(
  servers: AgentSnapshot['mcp_servers'],
  tools: AgentSnapshot['tools'],
  choices: ToolChoices,
): Record<string, PermissionAction> {
  return Object.fromEntries(
    servers.flatMap(({ name }) => [
      [`${toQualified(name, '')}*`, choices.mcp(name, UNNAMED)] as const,
      ...namedTools(tools, name).map((tool) => [toQualified(name, tool), choices.mcp(name, tool)] as const),
    ]),
  );
}

/** Not the name of a tool: its permission applies to every tool without an entry of its own. */
const UNNAMED = '';

/** The server of a tool. `a_b` comes before `a`: the tool `c` of the first is not the tool `b_c` of the second. */
function findServer(
  name: string,
  servers: AgentSnapshot['mcp_servers'],
): AgentSnapshot['mcp_servers'][number] | undefined {
  return servers
    .filter((each) => name.startsWith(toQualified(each.name, '')))
    .toSorted((one, other) => other.name.length - one.name.length)[0];
}

function toMcpTool(
  serverName: string,
  name: string,
  tools: AgentSnapshot['tools'],
  choices: ToolChoices,
): ProgramCall['tool'] {
  const named = namedTools(tools, serverName).find((tool) => toQualified(serverName, tool) === name);
  const toolName = named ?? name.slice(toQualified(serverName, '').length);
  const permission = choices.mcp(serverName, toolName);
  return permission === 'deny' ? { kind: 'builtin', permission } : { kind: 'mcp', permission, serverName, toolName };
}

/** The tools of a server that the definition mentions. */
function namedTools(tools: AgentSnapshot['tools'], serverName: string): readonly string[] {
  const own = tools.find(
    (tool): tool is McpToolset => tool.type === 'mcp_toolset' && tool.mcp_server_name === serverName,
  );
  return own?.configs.map(({ name }) => name) ?? [];
}
