import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { createdFromTo, pageQuery } from '../paging.ts';
import { description, metadata, metadataPatch, moment, name } from './common.ts';
import { model, modelParams } from './model.ts';
import { multiagent, multiagentParams } from './multiagent.ts';
import { mcpServer, tool, toolParams } from './tool.ts';

const system = z.string().max(limits.systemCharsMax).nullable();
const toolsParams = z.array(toolParams).max(limits.agentToolsMax);
const servers = z.array(mcpServer).max(limits.mcpServersMax);
const skillType = z.enum(['anthropic', 'custom']);
const skillsParams = z
  .array(z.strictObject({ type: skillType, skill_id: name, version: name.nullable().exactOptional() }))
  .max(limits.agentSkillsMax);
const serviceAccount = z.strictObject({ type: z.literal('service_account') });
const identityParams = z
  .discriminatedUnion('type', [serviceAccount, z.strictObject({ type: z.literal('aws_role'), role_arn: name })])
  .nullable();
const version = z.int().min(1);

export const agentCreateBody = z.strictObject({
  name,
  model: modelParams,
  description: description.exactOptional(),
  system: system.exactOptional(),
  tools: toolsParams.exactOptional(),
  mcp_servers: servers.exactOptional(),
  skills: skillsParams.exactOptional(),
  multiagent: multiagentParams.nullable().exactOptional(),
  metadata: metadata.exactOptional(),
  execution_identity: identityParams.exactOptional(),
});

export const agentUpdateBody = z.strictObject({
  name: name.exactOptional(),
  model: modelParams.exactOptional(),
  description: description.exactOptional(),
  system: system.exactOptional(),
  tools: toolsParams.nullable().exactOptional(),
  mcp_servers: servers.nullable().exactOptional(),
  skills: skillsParams.nullable().exactOptional(),
  multiagent: multiagentParams.nullable().exactOptional(),
  metadata: metadataPatch.nullable().exactOptional(),
  execution_identity: identityParams.exactOptional(),
  version: version.exactOptional(),
});

/** What a session may replace of its agent. */
export const agentOverrides = {
  model: modelParams.exactOptional(),
  system: system.exactOptional(),
  tools: toolsParams.exactOptional(),
  mcp_servers: servers.exactOptional(),
  skills: skillsParams.nullable().exactOptional(),
};

/** What an update of a session may replace of its agent. */
export const sessionAgentUpdate = z.strictObject({
  tools: toolsParams.exactOptional(),
  mcp_servers: servers.exactOptional(),
});

const pages = pageQuery({ max: limits.recordPageItemsMax, normally: limits.recordPageItemsDefault });

export const agentRetrieveQuery = z.strictObject({ version: version.exactOptional() });
export const agentListQuery = z.strictObject({
  ...pages,
  ...createdFromTo,
  include_archived: z.boolean().default(false),
});
export const agentVersionListQuery = z.strictObject(pages);

/** What a thread runs: an agent without its roster and its dates. */
export const agentSnapshot = z.strictObject({
  type: z.literal('agent'),
  id: z.string(),
  version,
  name: z.string(),
  description: z.string().nullable(),
  system: z.string().nullable(),
  model,
  tools: z.array(tool),
  mcp_servers: z.array(mcpServer),
  skills: z.array(z.strictObject({ type: skillType, skill_id: z.string(), version: z.string() })),
  execution_identity: serviceAccount,
});

export const agent = z
  .strictObject({
    ...agentSnapshot.shape,
    multiagent: multiagent.nullable(),
    metadata,
    created_at: moment,
    updated_at: moment,
    archived_at: moment.nullable(),
  })
  .meta({ id: 'Agent' });
