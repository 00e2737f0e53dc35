import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { TOOL_SERVER } from '../../mcp/server-names.ts';
import { needsAsks, type PermissionMode } from '../approvals/call-policy.ts';

/**
 * The approval policy of Codex. If one call of one agent needs an approval, Codex requests permission for every call, and the engine allows
 * calls that a definition allows: one process has one policy.
 */
export function toApprovalPolicy(agents: readonly AgentSnapshot[], mode: PermissionMode): 'untrusted' | 'never' {
  return mode !== 'default' || agents.some(needsAsks) ? 'untrusted' : 'never';
}

/** The input of starting, resuming or forking a thread. */
export interface ThreadParamsOptions {
  readonly directory: string;
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  /** The model of the thread; null: Codex chooses. */
  readonly model: string | null;
  readonly mode: PermissionMode;
  /** The MCP servers of all agents, as the program reaches them. */
  readonly mcpServers: readonly { readonly name: string; readonly url: string }[];
  /** The MCP server with the custom tools; null if there are none. */
  readonly toolsUrl: string | null;
}

/** Parameters that `thread/start`, `thread/resume` and `thread/fork` have in common. */
export function toThreadParams(options: ThreadParamsOptions): object {
  const { directory, agent, members, model, mode, mcpServers, toolsUrl } = options;
  const effort = agent.model.effort.type;
  // Calls of custom tools wait for people, who may take days.
  const tools =
    toolsUrl === null ? {} : { [TOOL_SERVER]: { url: toolsUrl, ...PATIENT, default_tools_approval_mode: 'approve' } };
  const approvalPolicy = toApprovalPolicy([agent, ...members], mode);
  // If Codex requests permission, it does so for each call, and the definition of the calling agent decides.
  const approval = { default_tools_approval_mode: approvalPolicy === 'never' ? 'approve' : 'prompt' };
  const servers = mcpServers.map(({ name, url }) => [name, { url, ...approval }] as const);
  return {
    cwd: directory,
    approvalPolicy,
    approvalsReviewer: 'user',
    // The sandbox of the session contains the whole program, and a second sandbox does not work inside it.
    sandbox: 'danger-full-access',
    ...(model === null ? {} : { model }),
    ...(agent.system === null || agent.system === '' ? {} : { developerInstructions: agent.system }),
    config: {
      ...(effort === 'high' ? {} : { model_reasoning_effort: effort === 'max' ? 'xhigh' : effort }),
      mcp_servers: { ...Object.fromEntries(servers), ...tools },
    },
  };
}

const PATIENT = { tool_timeout_sec: 2_000_000 };
