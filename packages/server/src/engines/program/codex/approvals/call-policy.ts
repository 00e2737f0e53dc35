import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { ProgramCall } from '../../program.ts';
import { strictestOf, type ToolChoice, type ToolChoices, toToolChoices } from '../../tool-choices.ts';

/**
 * The permission modes of Codex. `default`: the definitions of the agents decide. `untrusted`: every command and patch needs an approval, even
 * if a definition allows it. `deny`: every command and patch is denied, and no person is asked.
 */
export const permissionModes = ['default', 'untrusted', 'deny'] as const;
export type PermissionMode = (typeof permissionModes)[number];

/** The permissions of one agent by its definition and the permission mode. */
export interface CallPolicy {
  command(): ToolChoice;
  /** `isNew`: the change adds a file. */
  patch(changes: readonly { readonly isNew: boolean }[]): ToolChoice;
  mcp(serverName: string, toolName: string): ToolChoice;
  image(): ToolChoice;
}

/** Reads the policy of an agent. `mode` is read at each call, because it can be changed while the program runs. */
export function toCallPolicy(
  agent: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>,
  mode: () => PermissionMode,
): CallPolicy {
  const choices = toToolChoices(agent);
  const inMode = (choice: ToolChoice): ToolChoice => {
    if (mode() === 'default') return choice;
    return mode() === 'deny' ? 'deny' : strictestOf([choice, 'ask']);
  };
  return {
    command: () => inMode(choices.builtin('bash')),
    patch: (changes) => inMode(strictestOf(changes.map(({ isNew }) => choices.builtin(isNew ? 'write' : 'edit')))),
    mcp: (serverName, toolName) => choices.mcp(serverName, toolName),
    image: () => choices.builtin('read'),
  };
}

/** Whether a call of the agent needs an approval or is denied: Codex then requests permission for every call, and the engine answers. */
export function needsAsks(agent: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>): boolean {
  const choices = toToolChoices(agent);
  return GUARDED.some((name) => choices.builtin(name) !== 'allow') || hasGuardedServer(agent, choices);
}

/** The tools that Codex's commands and patches count as. Codex does not have a tool for reading. */
const GUARDED = ['bash', 'write', 'edit'] as const;

function hasGuardedServer(
  { tools, mcp_servers: servers }: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>,
  choices: ToolChoices,
): boolean {
  const named = tools.flatMap((tool) =>
    tool.type === 'mcp_toolset' ? tool.configs.map(({ name }) => [tool.mcp_server_name, name] as const) : [],
  );
  const all = [...named, ...servers.map(({ name }) => [name, ANY_TOOL] as const)];
  return all.some(([server, tool]) => choices.mcp(server, tool) !== 'allow');
}

/** A name without a configuration, which gives the default of a server. */
const ANY_TOOL = '';

/** Whether the agent may search the web without an approval. */
export function hasUnaskedSearch(agent: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>): boolean {
  return toToolChoices(agent).builtin(SEARCH) === 'allow';
}

/** The name of the web search, in definitions and in Codex. */
export const SEARCH = 'web_search';

/** The `tool` of a call with this choice. */
export function toBuiltin(choice: ToolChoice): ProgramCall['tool'] {
  return { kind: 'builtin', permission: choice };
}
