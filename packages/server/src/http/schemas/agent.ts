import { z } from 'zod';
import { agentLimits } from '../../agents/limits.ts';
import { httpLimits } from '../limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { createdFromTo, pageQuery } from '../paging/paging.ts';
import { description, metadata, metadataPatch, moment, name } from './common.ts';
import { model, modelParams } from './model.ts';
import { multiagent, multiagentParams } from './multiagent.ts';
import { mcpServer, tool, toolParams } from './tool.ts';

const system = z.string().max(httpLimits.systemCharsMax).nullable();
const toolsParams = z.array(toolParams).max(agentLimits.agentToolsMax);
const servers = z.array(mcpServer).max(agentLimits.mcpServersMax);
const skillType = z.enum(['anthropic', 'custom']);
const skillsParams = z
  .array(z.strictObject({ type: skillType, skill_id: name, version: name.nullable().exactOptional() }))
  .max(httpLimits.agentSkillsMax);
const serviceAccount = z.strictObject({ type: z.literal('service_account') });
const identityParams = z
  .discriminatedUnion('type', [serviceAccount, z.strictObject({ type: z.literal('aws_role'), role_arn: name })])
  .nullable();
const version = z.int().min(1);

/** The body of `POST /v1/agents`. */
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

/** The body of `POST /v1/agents/{agent_id}`: absent fields stay unchanged. */
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

/** The fields of an agent that a session may override. */
export const agentOverrides = {
  model: modelParams.exactOptional(),
  system: system.exactOptional(),
  tools: toolsParams.exactOptional(),
  mcp_servers: servers.exactOptional(),
  skills: skillsParams.nullable().exactOptional(),
};

/** The fields of a session's agent that an update of the session may change. */
export const sessionAgentUpdate = z.strictObject({
  tools: toolsParams.exactOptional(),
  mcp_servers: servers.exactOptional(),
});

const pages = pageQuery({ max: storeLimits.recordPageItemsMax, normally: httpLimits.recordPageItemsDefault });

/** The query of `GET /v1/agents/{agent_id}`. */
export const agentRetrieveQuery = z.strictObject({ version: version.exactOptional() });
/** The query of `GET /v1/agents`. */
export const agentListQuery = z.strictObject({
  ...pages,
  ...createdFromTo,
  include_archived: z.boolean().default(false),
});
/** The query of `GET /v1/agents/{agent_id}/versions`. */
export const agentVersionListQuery = z.strictObject(pages);

/** The agent of a thread: without its roster and dates. */
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

/** An agent in responses. */
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
