import type { Status } from '@fleetloom/protocol/managed-agents';
import { z } from 'zod';
import { fileLimits } from '../../files/limits.ts';
import { httpLimits } from '../limits.ts';
import { sessionLimits } from '../../sessions/core/limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { createdBetween, pageQuery } from '../paging/paging.ts';
import { agentOverrides, agentSnapshot, sessionAgentUpdate } from './agent.ts';
import { metadata, metadataPatch, moment } from './common.ts';
import { defineOutcomeParams, userMessageParams } from './event.ts';
import { sessionResource, sessionResourceParams } from './file.ts';
import { multiagentOf, rosterIsolation } from './multiagent.ts';

const rosterMember = z.strictObject({ ...agentSnapshot.shape, ...rosterIsolation });
const id = z.string().min(1).max(httpLimits.pathIdCharsMax);
const version = z.int().min(1);
const amount = z.string().regex(/^(0|[1-9]\d{0,12})$/, 'must be a whole number of cents as a string, such as "2500"');
const budget = z.strictObject({
  type: z.literal('limit'),
  max_list_cost: z.strictObject({ amount, currency: z.literal('USD') }),
});

const agentParams = z.union([
  id,
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('agent'), id, version: version.exactOptional() }),
    z.strictObject({
      type: z.literal('agent_with_overrides'),
      id,
      version: version.exactOptional(),
      ...agentOverrides,
    }),
  ]),
]);

const title = z.string().max(sessionLimits.titleCharsMax).nullable();

/** The body of `POST /v1/sessions`. */
export const sessionCreateBody = z.strictObject({
  agent: agentParams,
  environment_id: id,
  title: title.exactOptional(),
  metadata: metadata.exactOptional(),
  initial_events: z
    .array(z.discriminatedUnion('type', [userMessageParams, defineOutcomeParams]))
    .max(httpLimits.initialEventsMax)
    .exactOptional(),
  resources: z.array(sessionResourceParams).max(fileLimits.sessionResourcesMax).exactOptional(),
  vault_ids: z.array(id).exactOptional(),
  budget: budget.exactOptional(),
});

/** The body of `POST /v1/sessions/{session_id}`. */
export const sessionUpdateBody = z.strictObject({
  title: title.exactOptional(),
  metadata: metadataPatch.nullable().exactOptional(),
  agent: sessionAgentUpdate.exactOptional(),
  budget: budget.nullable().exactOptional(),
  vault_ids: z.array(id).exactOptional(),
});

/** The body of `POST …/fork`. */
export const sessionForkBody = z.strictObject({
  /** The cursor of the last event that both sessions share. */
  at: z.string().max(httpLimits.pathIdCharsMax).exactOptional(),
  title: title.exactOptional(),
  agent: agentParams.exactOptional(),
});

const statuses = ['rescheduling', 'running', 'idle', 'terminated'] as const satisfies readonly Status[];
const status = z.enum(statuses);

/** The query of `GET /v1/sessions`. */
export const sessionListQuery = z.strictObject({
  ...pageQuery({ max: storeLimits.recordPageItemsMax, normally: httpLimits.recordPageItemsDefault }),
  ...createdBetween,
  order: z.enum(['asc', 'desc']).default('desc'),
  agent_id: id.exactOptional(),
  agent_version: version.exactOptional(),
  statuses: z.array(status).exactOptional(),
  include_archived: z.boolean().default(false),
  deployment_id: id.exactOptional(),
  memory_store_id: id.exactOptional(),
});

/** The query of `GET …/threads`. */
export const threadListQuery = z.strictObject({
  ...pageQuery({ max: storeLimits.pageItemsMax, normally: storeLimits.pageItemsMax }),
  statuses: z.array(status).exactOptional(),
});

const usage = z.strictObject({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_input_tokens: z.int(),
  cache_creation: z.strictObject({ ephemeral_5m_input_tokens: z.int(), ephemeral_1h_input_tokens: z.int() }),
  active_seconds: z.number(),
  list_cost: z.strictObject({ amount: z.string(), currency: z.literal('USD') }).exactOptional(),
  server_tool_use: z.strictObject({ web_fetch_requests: z.int(), web_search_requests: z.int() }).exactOptional(),
});

/** A session in responses. */
export const session = z
  .strictObject({
    type: z.literal('session'),
    id: z.string(),
    agent: z.strictObject({ ...agentSnapshot.shape, multiagent: multiagentOf(rosterMember).nullable() }),
    environment_id: z.string(),
    title: z.string().nullable(),
    status,
    metadata,
    resources: z.array(sessionResource),
    vault_ids: z.array(z.string()),
    outcome_evaluations: z.array(z.looseObject({ type: z.string() })),
    budget: budget.nullable(),
    stats: z.strictObject({ active_seconds: z.number(), duration_seconds: z.number() }),
    usage,
    deployment_id: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
    archived_at: moment.nullable(),
  })
  .meta({ id: 'Session' });

/** The response to a deletion. */
export const deletedSession = z
  .strictObject({ type: z.literal('session_deleted'), id: z.string() })
  .meta({ id: 'DeletedSession' });

/** A thread in responses. */
export const thread = z
  .strictObject({
    type: z.literal('session_thread'),
    id: z.string(),
    session_id: z.string(),
    parent_thread_id: z.string().nullable(),
    agent: agentSnapshot,
    status,
    stats: z
      .strictObject({ active_seconds: z.number(), duration_seconds: z.number(), startup_seconds: z.number() })
      .nullable(),
    usage: usage.nullable(),
    workflow_run_id: z.null(),
    created_at: moment,
    updated_at: moment,
    archived_at: moment.nullable(),
  })
  .meta({ id: 'SessionThread' });
