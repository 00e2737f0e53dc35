import {
  type BuiltInToolConfig,
  type BuiltInToolConfigParams,
  type BuiltInToolName,
  builtInToolNames,
  builtInTools,
} from '@fleetloom/protocol/managed-agents';
import { z } from 'zod';
import { agentLimits } from '../../agents/limits.ts';
import { baseLimits } from '../../base/limits.ts';
import { toolLimits } from '../../tools/limits.ts';
import { name } from './common.ts';

const policy = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('always_allow') }),
  z.strictObject({ type: z.literal('always_ask') }),
  z.strictObject({ type: z.literal('auto') }),
]);

const usageParams = {
  enabled: z.boolean().nullable().exactOptional(),
  permission_policy: policy.nullable().exactOptional(),
};
const usage = { enabled: z.boolean(), permission_policy: policy };

// --- options of the web tools ---

const domain = z.string().min(1).max(baseLimits.nameCharsMax);
const domains = {
  allowed_domains: z.array(domain).min(1).max(toolLimits.toolDomainsMax).exactOptional(),
  blocked_domains: z.array(domain).min(1).max(toolLimits.toolDomainsMax).exactOptional(),
};

const all = z.strictObject({ type: z.literal('all') });
const none = z.strictObject({ type: z.literal('none') });
const references = z
  .array(z.strictObject({ type: z.literal('tool_reference'), name: z.string().min(1).max(baseLimits.nameCharsMax) }))
  .max(agentLimits.agentToolsMax);
const allOrNone = z.discriminatedUnion('type', [all, none]);
const toolFilter = z.discriminatedUnion('type', [
  all,
  none,
  z.strictObject({ type: z.literal('only'), tools: references }),
  z.strictObject({ type: z.literal('except'), tools: references }),
]);
const short = z.enum(['all', 'none']);
const urlSourcesParams = z.strictObject({
  user_input: z.union([short, allOrNone]).nullable().exactOptional(),
  client_tool_results: z.union([short, toolFilter]).nullable().exactOptional(),
  server_tool_results: z.union([short, toolFilter]).nullable().exactOptional(),
});
const urlSources = z.strictObject({
  user_input: allOrNone.nullable(),
  client_tool_results: toolFilter.nullable(),
  server_tool_results: toolFilter.nullable(),
});
const maxContentTokens = z.int().min(1).nullable().exactOptional();
const place = z.string().max(baseLimits.nameCharsMax).nullable().exactOptional();
const userLocation = z
  .strictObject({ type: z.literal('approximate'), city: place, country: place, region: place, timezone: place })
  .nullable()
  .exactOptional();

// --- toolsets ---

/** The schemas of all built-in tools in one union, whose type is that of the protocol. */
function unionOf<Config>(toSchema: (name: BuiltInToolName) => z.ZodObject): z.ZodType<Config, Config> {
  const [first, ...others] = builtInToolNames.map((name) => toSchema(name).extend(optionsOf(name)));
  // There is at least one built-in tool. The cast: schemas that are created from a list have lost their own types.
  return z.discriminatedUnion('name', [first!, ...others]) as unknown as z.ZodType<Config, Config>;
}

function optionsOf(name: BuiltInToolName): z.core.$ZodLooseShape {
  const { isWebTool, hasUrlSources, hasUserLocation } = builtInTools[name];
  return {
    ...(isWebTool ? domains : {}),
    ...(hasUrlSources ? { max_content_tokens: maxContentTokens } : {}),
    ...(hasUserLocation ? { user_location: userLocation } : {}),
  };
}

const builtInParams = unionOf<BuiltInToolConfigParams>((tool) => {
  const schema = z.strictObject({ name: z.literal(tool), type: z.literal(tool).exactOptional(), ...usageParams });
  if (!builtInTools[tool].hasUrlSources) return schema;
  return schema.extend({ url_sources: urlSourcesParams.nullable().exactOptional() });
});

const builtIn = unionOf<BuiltInToolConfig>((tool) => {
  const schema = z.strictObject({ name: z.literal(tool), type: z.literal(tool), ...usage });
  return builtInTools[tool].hasUrlSources ? schema.extend({ url_sources: urlSources.nullable() }) : schema;
});

/** A tool of the client. The service checks its name, because that must also be unique. */
const custom = z.strictObject({
  type: z.literal('custom'),
  name: z.string(),
  description: z.string(),
  input_schema: z.looseObject({
    type: z.literal('object'),
    properties: z.record(z.string(), z.unknown()).nullable().exactOptional(),
    required: z.array(z.string()).nullable().exactOptional(),
  }),
});

/** A tool or toolset of an agent in requests. */
export const toolParams = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('agent_toolset_20260401'),
    default_config: z.strictObject(usageParams).nullable().exactOptional(),
    configs: z.array(builtInParams).max(agentLimits.agentToolsMax).exactOptional(),
  }),
  z.strictObject({
    type: z.literal('mcp_toolset'),
    mcp_server_name: name,
    default_config: z.strictObject(usageParams).nullable().exactOptional(),
    configs: z
      .array(z.strictObject({ name, ...usageParams }))
      .max(agentLimits.agentToolsMax)
      .exactOptional(),
  }),
  custom,
]);

/** A tool or toolset of an agent in responses. */
export const tool = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('agent_toolset_20260401'),
    default_config: z.strictObject(usage),
    configs: z.array(builtIn),
  }),
  z.strictObject({
    type: z.literal('mcp_toolset'),
    mcp_server_name: z.string(),
    default_config: z.strictObject(usage),
    configs: z.array(z.strictObject({ name: z.string(), ...usage })),
  }),
  custom,
]);

/** An MCP server of an agent. */
export const mcpServer = z.strictObject({
  type: z.literal('url'),
  name,
  url: z.url({ protocol: /^https?$/ }),
});
