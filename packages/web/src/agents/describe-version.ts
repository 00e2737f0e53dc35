import { type Agent, builtInToolNames, type Tool } from '@fleetloom/protocol/managed-agents';
import { policies, policyOf, toPolicy } from './tool-policies.ts';
import { rosterOf } from './roster.ts';

/** A version of an agent as text, one fact per line, so that two versions can be compared line by line. */
export function describeVersion(agent: Agent, nameOf: (agentId: string) => string): string {
  const { name, model, description, system, tools, mcp_servers: servers, skills, metadata } = agent;
  return [
    `name: ${name}`,
    `model: ${model.id}`,
    `effort: ${model.effort.type}, speed: ${model.speed}`,
    `description: ${description ?? ''}`,
    ...builtInToolNames.map((tool) => `tool ${tool}: ${policies[policyOf(tools, tool)]}`),
    ...tools.flatMap(describeOptions),
    ...servers.map((server) => `MCP server ${server.name}: ${server.url}`),
    ...skills.map((skill) => `skill ${skill.skill_id}: ${skill.version}`),
    ...rosterOf(agent).map(
      ({ id, version, isolation }) =>
        `delegates to: ${nameOf(id)} v${version}${isolation === undefined ? '' : `, ${isolation}`}`,
    ),
    ...Object.entries(metadata).map(([key, value]) => `metadata ${key}: ${value}`),
    'system prompt:',
    system ?? '',
  ].join('\n');
}

/** The facts about a tool that the policies of built-in tools do not contain. */
function describeOptions(tool: Tool): readonly string[] {
  if (tool.type === 'custom') return [`custom tool ${tool.name}: ${JSON.stringify(tool.input_schema)}`];
  if (tool.type === 'mcp_toolset') {
    const own = tool.configs.map((config) => `tool ${tool.mcp_server_name}/${config.name}: ${toPolicy(config)}`);
    return [`tools of ${tool.mcp_server_name}: ${policies[toPolicy(tool.default_config)]}`, ...own];
  }
  return tool.configs.flatMap((config) => {
    const { name } = config;
    const given = Object.entries(config).filter(([key, value]) => !COMMON.has(key) && value !== null);
    return given.length === 0 ? [] : [`options of ${name}: ${JSON.stringify(Object.fromEntries(given))}`];
  });
}

/** Fields that every built-in tool has; they are part of its policy. */
const COMMON: ReadonlySet<string> = new Set(['name', 'type', 'enabled', 'permission_policy']);
