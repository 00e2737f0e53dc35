import { z } from 'zod';
import { baseLimits } from '../../base/limits.ts';
import { fileLimits } from '../../files/limits.ts';
import { httpLimits } from '../limits.ts';
import { agentCreateBody } from './agent.ts';
import { messageBlock } from './content.ts';
import { sessionResourceParams } from './file.ts';

/** The body of `POST /v1/orchestrate`. */
export const orchestrateBody = z.strictObject({
  message: z.union([z.string().min(1), z.array(messageBlock).min(1)]),
  /** The id or name of an agent. */
  agent: z.string().min(1).max(baseLimits.nameCharsMax).exactOptional(),
  /** An agent for this request only. It may delegate to all agents of the workspace. */
  agent_def: agentCreateBody.omit({ multiagent: true, metadata: true }).exactOptional(),
  /** The user's own question, if the message differs from it. Stored with the session, not sent to the agent. */
  original_query: z.string().max(httpLimits.metadataValueCharsMax).exactOptional(),
  /** The resources of the workspace, such as files or a directory on the machine of the server. */
  resources: z.array(sessionResourceParams).max(fileLimits.sessionResourcesMax).exactOptional(),
  budget: z
    .strictObject({
      cost_usd: z.number().positive().exactOptional(),
      tokens: z.int().positive().exactOptional(),
      turns: z.int().positive().exactOptional(),
      wall_ms: z.int().positive().exactOptional(),
    })
    .exactOptional(),
});

/** The parsed body. */
export type OrchestrateBody = z.output<typeof orchestrateBody>;

/** A run in responses. */
export const fleetRequest = z
  .strictObject({
    request_id: z.string(),
    session_id: z.string(),
    state: z.enum(['running', 'completed', 'failed', 'cancelled']),
    agent: z.string(),
    message: z.string(),
    started_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
    last_seq: z.int(),
  })
  .meta({ id: 'FleetRequest' });

/** A page of runs. */
export const fleetRequests = z.strictObject({ data: z.array(fleetRequest), next_page: z.string().nullable() });
