import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { SettingsChoice } from '../../program.ts';
import { toProgramModelName } from '../../program-model-name.ts';
import { listMcpServers } from '../../list-mcp-servers.ts';
import type { ProgramOptions } from '../../program.ts';
import { toSettings } from './to-settings.ts';
import { TOOL_SERVER } from '../../mcp/server-names.ts';
import { QUESTION_TOOL, type ToolPolicy, toQualified, toToolPolicy } from '../approvals/tool-policy.ts';

/** The input of the program's command line. */
export interface ArgumentOptions extends Pick<ProgramOptions, 'agent' | 'members' | 'resume' | 'forkAt' | 'settings'> {
  /** Maximum depth of sub-agents. 0: the agent cannot start sub-agents. */
  readonly depthMax?: number | undefined;
  /** A file with the result of `toSettings` and further settings; without it the result is on the command line. */
  readonly settingsFile?: string | undefined;
  /** Returns the URL by which the program reaches an MCP server, if it is not the URL of the definition. */
  readonly mcpUrlOf?: ((serverName: string) => string) | undefined;
}

/** The command line that configures the program as the agent's definition says. */
export function toArguments(options: ArgumentOptions): string[] {
  const { agent, members, resume, forkAt, depthMax, settings = 'none', settingsFile, mcpUrlOf } = options;
  const policies = [agent, ...members].map(toToolPolicy);
  const model = toProgramModelName(agent.model.id);
  const servers = toMcpServers([agent, ...members], mcpUrlOf);
  const effort = agent.model.effort.type;
  return [
    ...always,
    // By default only the settings of this server: what users allow for themselves is not what the definition allows.
    '--setting-sources',
    settingSources[settings],
    '--settings',
    settingsFile ?? JSON.stringify(toSettings([agent, ...members], settings)),
    ...toTools(policies, members.length > 0, depthMax !== 0),
    ...(model === null ? [] : ['--model', model]),
    // The default of definitions is also the default of the program.
    ...(effort === 'high' ? [] : ['--effort', effort]),
    ...(Object.keys(servers).length === 0 ? [] : ['--mcp-config', JSON.stringify({ mcpServers: servers })]),
    ...(resume === null ? [] : ['--resume', resume]),
    ...(resume === null || forkAt === undefined ? [] : ['--fork-session', '--resume-session-at', forkAt]),
  ];
}

const settingSources: Readonly<Record<SettingsChoice, string>> = {
  none: '',
  project: 'project',
  user: 'user,project,local',
};

const always = [
  '-p',
  '--verbose',
  '--output-format',
  'stream-json',
  '--input-format',
  'stream-json',
  '--include-partial-messages',
  // The program repeats each user message when a turn takes it, which shows the turn that the message belongs to.
  '--replay-user-messages',
  '--permission-prompt-tool',
  'stdio',
  '--permission-mode',
  'default',
  // Only the MCP servers of the definitions are used, whatever settings are loaded.
  '--strict-mcp-config',
];

/** The roster in the format of the program. */
export function toAgents(members: readonly AgentSnapshot[]): Record<string, ProgramAgent> {
  return Object.fromEntries(members.map((member) => [member.name, toAgent(member)]));
}

interface ProgramAgent {
  readonly description: string;
  readonly prompt: string;
  readonly tools?: string[];
  readonly model?: string;
}

function toAgent(member: AgentSnapshot): ProgramAgent {
  const policy = toToolPolicy(member);
  const { id } = member.model;
  // Another model in the roster is passed on as it is: the endpoint of the program may have it.
  const model = id.startsWith(OWN_MODELS) ? toProgramModelName(id) : id;
  const custom = policy.customTools.map(({ name }) => toQualified(TOOL_SERVER, name));
  // An agent with MCP servers gets all tools, because the tools of its servers are known only later; this server checks each call.
  const isListed = policy.builtins !== undefined && member.mcp_servers.length === 0;
  return {
    description: member.description ?? `The agent ${member.name}.`,
    prompt: member.system ?? `You are ${member.name}.`,
    ...(isListed ? { tools: [...(policy.builtins ?? []), ...custom] } : {}),
    ...(model === null ? {} : { model }),
  };
}

const OWN_MODELS = 'claude-code/';

function toTools(policies: readonly ToolPolicy[], hasMembers: boolean, canDelegate: boolean): string[] {
  const isOpen = policies.some(({ builtins }) => builtins === undefined);
  if (!isOpen) {
    const builtins = policies.flatMap((policy) => policy.builtins ?? []);
    return ['--tools', [...new Set(builtins), ...(hasMembers && canDelegate ? delegationTools : [])].join(',')];
  }
  const unwanted = policies[0]!.disabled.filter((name) => policies.every((policy) => policy.disabled.includes(name)));
  const disabled = [...unwanted, ...(canDelegate ? [] : spawningTools)];
  return disabled.length === 0 ? [] : ['--disallowedTools', disabled.join(',')];
}

/** Tools that start sub-agents. */
const spawningTools = ['Agent', 'Workflow'];

const delegationTools = ['Agent', 'SendMessage', 'TaskStop', QUESTION_TOOL];

function toMcpServers(
  agents: readonly AgentSnapshot[],
  mcpUrlOf: ((serverName: string) => string) | undefined,
): Record<string, { type: 'http'; url: string }> {
  const servers = listMcpServers(agents);
  return Object.fromEntries(servers.map(({ name, url }) => [name, { type: 'http', url: mcpUrlOf?.(name) ?? url }]));
}
