import {
  type AgentToolset,
  type BuiltInToolConfig,
  type BuiltInToolName,
  builtInToolNames,
  type McpToolset,
  type Tool,
  type ToolsetDefaultConfig,
} from '@fleetloom/protocol/managed-agents';

/** How the calls of a tool are handled. A denied tool is not offered to the model. */
export type Policy = 'allow' | 'ask' | 'auto' | 'deny';

/** The policies with their names in the form. */
export const policies: Readonly<Record<Policy, string>> = {
  allow: 'allow',
  ask: 'ask',
  auto: 'ask if unsure',
  deny: 'deny',
};

/** The built-in tools of a new agent: every call needs approval. */
export const askForAll: AgentToolset = {
  type: 'agent_toolset_20260401',
  default_config: { enabled: true, permission_policy: { type: 'always_ask' } },
  configs: [],
};

/** The policy of a built-in tool. */
export function policyOf(tools: readonly Tool[], name: BuiltInToolName): Policy {
  const set = tools.find(isBuiltIn);
  if (set === undefined) return 'deny';
  return toPolicy(set.configs.find((one) => one.name === name) ?? set.default_config);
}

/** The policy of a tool or a set of tools. */
export function toPolicy({ enabled, permission_policy: { type } }: ToolsetDefaultConfig): Policy {
  if (!enabled) return 'deny';
  return type === 'always_allow' ? 'allow' : type === 'always_ask' ? 'ask' : 'auto';
}

/** The tools with a new policy for one built-in tool, which keeps its other options. */
export function withPolicy(tools: readonly Tool[], name: BuiltInToolName, policy: Policy): readonly Tool[] {
  const set = tools.find(isBuiltIn);
  // An agent without the toolset has none of the built-in tools.
  if (set === undefined) return policy === 'deny' ? tools : withPolicy([...tools, denyAll], name, policy);
  const known = set.configs.find((one) => one.name === name);
  // The cast is safe: a name without further options is a valid config of every built-in tool.
  const changed = { ...(known ?? { name, type: name }), ...toConfig(policy, known ?? set.default_config) };
  const others = set.configs.filter((one) => one.name !== name);
  const configs = [...others, changed as BuiltInToolConfig];
  return tools.map((tool) => (tool === set ? { ...set, configs: toSorted(configs) } : tool));
}

/** The tools with a new policy for all tools of an MCP server without a policy of their own. */
export function withServerPolicy(tools: readonly Tool[], set: McpToolset, policy: Policy): readonly Tool[] {
  const changed = { ...set, default_config: toConfig(policy, set.default_config) };
  return tools.map((tool) => (tool === set ? changed : tool));
}

const denyAll: AgentToolset = { ...askForAll, default_config: { ...askForAll.default_config, enabled: false } };

function isBuiltIn(tool: Tool): tool is AgentToolset {
  return tool.type === 'agent_toolset_20260401';
}

/** The config for a policy. A denied tool keeps its permission policy for the time when it is allowed again. */
function toConfig(policy: Policy, before: ToolsetDefaultConfig): ToolsetDefaultConfig {
  if (policy === 'deny') return { enabled: false, permission_policy: before.permission_policy };
  const type = ({ allow: 'always_allow', ask: 'always_ask', auto: 'auto' } as const)[policy];
  return { enabled: true, permission_policy: { type } };
}

function toSorted(configs: readonly BuiltInToolConfig[]): readonly BuiltInToolConfig[] {
  return configs.toSorted((a, b) => builtInToolNames.indexOf(a.name) - builtInToolNames.indexOf(b.name));
}
