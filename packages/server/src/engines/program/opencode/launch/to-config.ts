import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../../../base/json/json.ts';
import { TOOL_SERVER } from '../../mcp/server-names.ts';
import { toToolPolicy } from '../approvals/tool-policy.ts';
import { DEFAULT_MODEL, type OpencodeModel, toOpencodeModel } from './model-choice.ts';

/** The input of opencode's configuration. */
export interface ConfigOptions {
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  readonly depthMax: number;
  /** The base URL of the Messages API for model requests. Null: opencode's own endpoint and login. */
  readonly baseURL: string | null;
  readonly mcpUrlOf: (serverName: string, url: string) => string;
  /** The URL of the MCP server with the custom tools; null if there are none. */
  readonly toolsUrl: string | null;
}

/** The name of the main agent. A member of this name would replace it. */
export const MAIN_AGENT = 'fleetloom-main';

/** The configuration of the definitions. opencode merges it over the configuration of the user and the project. */
export function toConfig(options: ConfigOptions): JsonObject {
  const { agent, members, depthMax, baseURL } = options;
  const models = listModels([agent, ...members]);
  const main = models[0]!;
  const named = `${main.providerID}/${main.modelID}`;
  return {
    autoupdate: false,
    share: 'disabled',
    model: named,
    small_model: named,
    default_agent: MAIN_AGENT,
    subagent_depth: depthMax,
    // The server records changes of files itself.
    snapshot: false,
    ...(baseURL === null ? {} : { provider: toProviders(models, baseURL) }),
    mcp: toMcp(options),
    agent: {
      [MAIN_AGENT]: { mode: 'primary', permission: toPermission(agent, members, depthMax) },
      ...Object.fromEntries(members.map((member) => [member.name, toMember(member, options, main)])),
    },
  };
}

/** The models of the main agent and of its members, in their order. */
export function listModels([agent, ...members]: readonly AgentSnapshot[]): readonly OpencodeModel[] {
  const main = modelOf(agent?.model.id ?? '', DEFAULT_MODEL);
  return [main, ...members.map((member) => modelOf(member.model.id, main))];
}

/** The providers and their models, which are reached through the gateway. All of them use the Messages API there. */
export function toProviders(models: readonly OpencodeModel[], baseURL: string): JsonObject {
  const names = new Set(models.map(({ providerID }) => providerID));
  return Object.fromEntries(
    [...names].map((name) => {
      const own = models.filter(({ providerID }) => providerID === name);
      const known = Object.fromEntries(own.map(({ modelID }) => [modelID, toModel(name, modelID)]));
      // The gateway adds the real key. Without a key opencode would not use the provider.
      const options = { baseURL: `${baseURL}/v1`, apiKey: 'fleetloom-gateway' };
      return [name, { npm: '@ai-sdk/anthropic', name, options, models: known }];
    }),
  );
}

/** The configuration of a model. opencode knows the limits of Anthropic's models. */
function toModel(providerID: string, name: string): JsonObject {
  if (providerID === DEFAULT_MODEL.providerID) return { name };
  return { name, reasoning: true, tool_call: true, attachment: true, limit: { context: 200_000, output: 32_000 } };
}

function toMember(member: AgentSnapshot, { members, depthMax }: ConfigOptions, main: OpencodeModel): JsonObject {
  const { providerID, modelID } = modelOf(member.model.id, main);
  return {
    mode: 'subagent',
    description: member.description ?? `The agent ${member.name}.`,
    prompt: member.system ?? `You are ${member.name}.`,
    model: `${providerID}/${modelID}`,
    permission: toPermission(member, members, depthMax),
  };
}

/** The permissions of an agent. With a roster it may delegate to its members only, without a roster to opencode's own agents. */
function toPermission(agent: AgentSnapshot, members: readonly AgentSnapshot[], depthMax: number): JsonObject {
  const { permissions } = toToolPolicy(agent);
  const roster = Object.fromEntries(members.map(({ name }) => [name, 'allow' as const]));
  const task = members.length === 0 ? 'allow' : { '*': 'deny', ...roster };
  return { ...permissions, task: depthMax === 0 ? 'deny' : task };
}

function toMcp({ agent, members, mcpUrlOf, toolsUrl }: ConfigOptions): JsonObject {
  const servers = [agent, ...members].flatMap(({ mcp_servers: own }) => own);
  const remote = (url: string): JsonObject => ({ type: 'remote', url, oauth: false, enabled: true });
  return {
    ...Object.fromEntries(servers.map(({ name, url }) => [name, remote(mcpUrlOf(name, url))])),
    // A custom tool call may wait for a person for days: this is the longest time of a timer.
    ...(toolsUrl === null ? {} : { [TOOL_SERVER]: { ...remote(toolsUrl), timeout: 2_147_483_647 } }),
  };
}

/** A model of another engine in the roster is passed on by its name: the endpoint may have it. */
function modelOf(id: string, fallback: OpencodeModel): OpencodeModel {
  if (id.startsWith(PREFIX)) return toOpencodeModel(id.slice(PREFIX.length), fallback);
  const name = id.slice(id.indexOf('/') + 1);
  return toOpencodeModel(name.replaceAll('/', '-'), fallback);
}

const PREFIX = 'opencode/';
