import type { AgentSnapshot, McpToolset } from '@fleetloom/protocol/managed-agents';
import type { SettingsChoice } from '../../program.ts';
import { TOOL_SERVER } from '../../mcp/server-names.ts';
import { toQualified, toToolPolicy } from '../approvals/tool-policy.ts';

/** Settings of ours. They have precedence over those of users and projects. */
export interface OwnSettings {
  readonly permissions: { readonly allow: readonly string[]; readonly ask: readonly string[] };
  readonly disableAllHooks?: true;
  readonly apiKeyHelper?: '';
  readonly awsAuthRefresh?: '';
  readonly awsCredentialExport?: '';
  readonly otelHeadersHelper?: '';
}

/**
 * Rules are for all agents of a process. So whatever one of them has to ask for, or may not have, is asked for by all, and the server
 * answers for those that may. An `ask` rule has precedence over any `allow` rule of a user or project.
 */
export function toSettings(agents: readonly AgentSnapshot[], settings: SettingsChoice): OwnSettings {
  const policies = agents.map(toToolPolicy);
  const builtins = policies.flatMap(({ asked, disabled }) => [...asked, ...disabled]);
  // Without the settings of a user or project no rule allows them.
  const servers = settings === 'none' ? [] : agents.flatMap(listAskedServers);
  return {
    permissions: { allow: [`mcp__${TOOL_SERVER}`], ask: [...new Set([...builtins, ...servers])] },
    // A hook for permission requests could give the approvals that the definition wants from people, and a helper is a
    // command that runs without approval.
    ...(settings !== 'none' && needsApprovals(agents) ? { disableAllHooks: true, ...NO_HELPERS } : {}),
  };
}

const NO_HELPERS = { apiKeyHelper: '', awsAuthRefresh: '', awsCredentialExport: '', otelHeadersHelper: '' } as const;

/** Whether some call of some agent is for a person to approve, or is denied to one agent and not to another. */
export function needsApprovals(agents: readonly AgentSnapshot[]): boolean {
  const policies = agents.map(toToolPolicy);
  const isDisabledForAll = (name: string) => policies.every(({ disabled }) => disabled.includes(name));
  return (
    policies.some(({ asked, disabled }) => asked.length > 0 || disabled.some((name) => !isDisabledForAll(name))) ||
    agents.some((agent) => listAskedServers(agent).length > 0)
  );
}

/** The MCP servers of which not every tool may be called without an approval, as rules name them. */
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
