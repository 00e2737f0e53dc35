import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { agentCreateBody } from './agent.ts';
import { messageBlock } from './content.ts';

export const orchestrateBody = z.strictObject({
  message: z.union([z.string().min(1), z.array(messageBlock).min(1)]),
  /** By id or name. */
  agent: z.string().min(1).max(limits.nameCharsMax).exactOptional(),
  /** An agent for this one request. Whom it may delegate to are the agents of the workspace. */
  agent_def: agentCreateBody.omit({ multiagent: true, metadata: true }).exactOptional(),
  /** What the user had asked, if the message is something else. It is kept with the session; the agent is not told. */
  original_query: z.string().max(limits.metadataValueCharsMax).exactOptional(),
  budget: z
    .strictObject({
      cost_usd: z.number().positive().exactOptional(),
      tokens: z.int().positive().exactOptional(),
      turns: z.int().positive().exactOptional(),
      wall_ms: z.int().positive().exactOptional(),
    })
    .exactOptional(),
});

export type OrchestrateBody = z.output<typeof orchestrateBody>;

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

export const fleetRequests = z.strictObject({ data: z.array(fleetRequest), next_page: z.string().nullable() });
