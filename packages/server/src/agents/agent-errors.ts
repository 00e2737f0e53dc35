import { FleetloomError } from '../base/errors.ts';

/** An error about an agent that the caller can fix. */
export function agentError(code: AgentErrorCode, problem: string): FleetloomError {
  return new FleetloomError({ code, kind: 'caller', problem, advice: codes[code] });
}

export type AgentErrorCode = keyof typeof codes;

/**
 * Every code with what to do about it. `agent_not_found` is a 404 on the wire, `version_conflict` a 409, all others are
 * 400: what is wrong with them is in the body of the request.
 */
export const codes = {
  agent_not_found: 'check the id and the version',
  /** The same code as the store's, which says the same of the same thing. */
  version_conflict: 'read the agent again and repeat the change on what it is now',
  agent_archived: 'use another agent, or create a new one',
  invalid_name: 'give it a name, or leave the field out',
  invalid_model: 'name a model, or leave the field out',
  too_many_metadata: 'remove keys with null, or keep the rest elsewhere',
  definition_too_large: 'shorten the descriptions and schemas of its tools, or give the tools to several agents',
  session_agent_too_large: 'use a smaller roster, or agents with smaller definitions',
  identity_not_supported: 'leave execution_identity out: agents act as the server itself',

  too_many_tools: 'use fewer tools, or give them to several agents',
  invalid_tool_name: 'use 1 to 128 letters, digits, underscores and hyphens',
  invalid_tool_schema: 'use a schema that is less deeply nested',
  tool_repeated: 'name each tool and each toolset once',
  tool_name_taken: 'give the custom tool another name',
  invalid_domains: 'use either allowed_domains or blocked_domains',
  invalid_url_sources: 'name only tools that the agent has, and leave one source open',
  too_many_mcp_servers: 'use fewer servers, or give them to several agents',
  mcp_server_repeated: 'give each server a name of its own',
  mcp_server_unused: 'add an mcp_toolset with its name to tools, or remove the server',
  mcp_server_unknown: 'add a server of this name to mcp_servers, or remove the toolset',
  skills_need_read: 'enable the read tool of agent_toolset_20260401, or remove the skills',

  roster_empty: 'name at least one agent, or leave multiagent out',
  roster_too_large: 'name fewer agents; several coordinators can share the work',
  roster_member_not_found: 'create the agent first, or remove it from the roster',
  roster_member_archived: 'use an agent that is not archived',
  roster_member_repeated: 'name each agent once; the coordinator can start it as often as it likes',
  roster_member_delegates: 'name an agent without multiagent: only one level of delegation is possible',
  roster_name_repeated: 'rename one of them: the coordinator knows its members by their names',
  roster_name_reserved: 'rename the agent',
  advisor_not_supported: 'leave the advisor out, or add an agent that gives advice',
  workflows_not_supported: 'leave workflows out, or send {"type":"disabled"}',
  inline_agents_not_supported: 'leave inline_agents out, and create the agents that are needed',
} as const satisfies Record<string, string>;
