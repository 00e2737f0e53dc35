import type { AgentSnapshot, McpToolset } from '@fleetloom/protocol/managed-agents';
import type { SettingsChoice } from '../../program.ts';
import { TOOL_SERVER } from '../../mcp/server-names.ts';
import { toQualified, toToolPolicy } from '../approvals/tool-policy.ts';

/** The settings of this server for the program. They have precedence over the settings of users and projects. */
export interface OwnSettings {
  readonly permissions: { readonly allow: readonly string[]; readonly ask: readonly string[] };
  readonly disableAllHooks?: true;
  readonly apiKeyHelper?: '';
  readonly awsAuthRefresh?: '';
  readonly awsCredentialExport?: '';
  readonly otelHeadersHelper?: '';
}

/**
 * Rules apply to all agents of a process. If one agent needs an approval for a tool or may not use it, all agents request permission, and the server
 * allows the call for agents that may use it. An `ask` rule has precedence over any `allow` rule of a user or project.
 */
export function toSettings(agents: readonly AgentSnapshot[], settings: SettingsChoice): OwnSettings {
  const policies = agents.map(toToolPolicy);
  const builtins = policies.flatMap(({ asked, disabled }) => [...asked, ...disabled]);
  // Without the settings of a user or project, no rule allows the tools of MCP servers.
  const servers = settings === 'none' ? [] : agents.flatMap(listAskedServers);
  return {
    permissions: { allow: [`mcp__${TOOL_SERVER}`], ask: [...new Set([...builtins, ...servers])] },
    // A hook for permission requests could grant approvals that the definition requires from people, and a helper is a
    // command that runs without approval.
    ...(settings !== 'none' && needsApprovals(agents) ? { disableAllHooks: true, ...NO_HELPERS } : {}),
  };
}

const NO_HELPERS = { apiKeyHelper: '', awsAuthRefresh: '', awsCredentialExport: '', otelHeadersHelper: '' } as const;

/** Whether a call of an agent needs the approval of a person, or is denied to one agent and allowed to another. */
export function needsApprovals(agents: readonly AgentSnapshot[]): boolean {
  const policies = agents.map(toToolPolicy);
  const isDisabledForAll = (name: string) => policies.every(({ disabled }) => disabled.includes(name));
  return (
    policies.some(({ asked, disabled }) => asked.length > 0 || disabled.some((name) => !isDisabledForAll(name))) ||
    agents.some((agent) => listAskedServers(agent).length > 0)
  );
}

/** The MCP servers with a tool that may not be called without an approval, by their names in rules. */
function listAskedServers({ mcp_servers: servers, tools }: AgentSnapshot): string[] {
  const toolsets = tools.filter((tool): tool is McpToolset => tool.type === 'mcp_toolset');
  return servers.flatMap(({ name }) => {
    const toolset = toolsets.find(({ mcp_server_name: of }) => of === name);
    const choices = toolset === undefined ? [] : [toolset.default_config, ...toolset.configs];
    const isFree =
      choices.length > 0 &&
      choices.every(({ enabled, permission_policy: { type } }) => enabled && type === 'always_allow');
    return isFree ? [] : [toQualified(name, '').replace(/__$/, '')];
  });
}
