import { z } from 'zod';
import { limits } from '../../base/limits.ts';
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

// --- what `web_fetch` and `web_search` have more ---

const domain = z.string().min(1).max(limits.nameCharsMax);
const domains = {
  allowed_domains: z.array(domain).min(1).max(limits.toolDomainsMax).exactOptional(),
  blocked_domains: z.array(domain).min(1).max(limits.toolDomainsMax).exactOptional(),
};

const all = z.strictObject({ type: z.literal('all') });
const none = z.strictObject({ type: z.literal('none') });
const references = z
  .array(z.strictObject({ type: z.literal('tool_reference'), name: z.string().min(1).max(limits.nameCharsMax) }))
  .max(limits.agentToolsMax);
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
const place = z.string().max(limits.nameCharsMax).nullable().exactOptional();
const userLocation = z
  .strictObject({ type: z.literal('approximate'), city: place, country: place, region: place, timezone: place })
  .nullable()
  .exactOptional();

// --- toolsets ---

function plain<const Name extends string>(tool: Name) {
  return z.strictObject({ name: z.literal(tool), type: z.literal(tool).exactOptional(), ...usageParams });
}

function plainAnswer<const Name extends string>(tool: Name) {
  return z.strictObject({ name: z.literal(tool), type: z.literal(tool), ...usage });
}

const builtInParams = z.discriminatedUnion('name', [
  plain('bash'),
  plain('read'),
  plain('write'),
  plain('edit'),
  plain('glob'),
  plain('grep'),
  plain('web_fetch').extend({
    ...domains,
    url_sources: urlSourcesParams.nullable().exactOptional(),
    max_content_tokens: maxContentTokens,
  }),
  plain('web_search').extend({ ...domains, user_location: userLocation }),
]);

const builtIn = z.discriminatedUnion('name', [
  plainAnswer('bash'),
  plainAnswer('read'),
  plainAnswer('write'),
  plainAnswer('edit'),
  plainAnswer('glob'),
  plainAnswer('grep'),
  plainAnswer('web_fetch').extend({
    ...domains,
    url_sources: urlSources.nullable(),
    max_content_tokens: maxContentTokens,
  }),
  plainAnswer('web_search').extend({ ...domains, user_location: userLocation }),
]);

/** Its form of name the service checks, which also knows which names are taken. */
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

export const toolParams = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('agent_toolset_20260401'),
    default_config: z.strictObject(usageParams).nullable().exactOptional(),
    configs: z.array(builtInParams).max(limits.agentToolsMax).exactOptional(),
  }),
  z.strictObject({
    type: z.literal('mcp_toolset'),
    mcp_server_name: name,
    default_config: z.strictObject(usageParams).nullable().exactOptional(),
    configs: z
      .array(z.strictObject({ name, ...usageParams }))
      .max(limits.agentToolsMax)
      .exactOptional(),
  }),
  custom,
]);

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

export const mcpServer = z.strictObject({
  type: z.literal('url'),
  name,
  url: z.url({ protocol: /^https?$/ }),
});
