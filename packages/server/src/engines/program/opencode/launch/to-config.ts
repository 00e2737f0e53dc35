import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../../../../base/json/json.ts';
import { TOOL_SERVER } from '../../mcp/server-names.ts';
import { toToolPolicy } from '../approvals/tool-policy.ts';
import { DEFAULT_MODEL, type OpencodeModel, toOpencodeModel } from './model-choice.ts';

/** What the configuration of opencode depends on. */
export interface ConfigOptions {
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  readonly depthMax: number;
  /** Where model requests go, as a base URL of the Messages API. Null: where opencode sends them with its own login. */
  readonly baseURL: string | null;
  readonly mcpUrlOf: (serverName: string, url: string) => string;
  /** Where custom tools are served; null if there are none. */
  readonly toolsUrl: string | null;
}

/** The name of the main agent. A member of this name would replace it. */
export const MAIN_AGENT = 'fleetloom-main';

/** The configuration that makes opencode what the definitions say. It is merged over that of the user and the project. */
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

/** The models of providers that are reached through the gateway. All of them speak the Messages API there. */
export function toProviders(models: readonly OpencodeModel[], baseURL: string): JsonObject {
  const names = new Set(models.map(({ providerID }) => providerID));
  return Object.fromEntries(
    [...names].map((name) => {
      const own = models.filter(({ providerID }) => providerID === name);
      const known = Object.fromEntries(own.map(({ modelID }) => [modelID, toModel(name, modelID)]));
      // The key is added by the gateway. Without any the provider would not be used.
      const options = { baseURL: `${baseURL}/v1`, apiKey: 'fleetloom-gateway' };
      return [name, { npm: '@ai-sdk/anthropic', name, options, models: known }];
    }),
  );
}

/** Opencode knows the limits of the models of Anthropic. */
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

/** With a roster an agent may delegate to its members only, without one to opencode's own agents. */
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
    // A call of a custom tool waits for people, who may take days: as long as a timer can.
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
