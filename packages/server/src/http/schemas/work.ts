import { z } from 'zod';
import { httpLimits } from '../limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { pageQuery } from '../paging/paging.ts';
import { metadata, metadataPatch, moment } from './common.ts';

const state = z.enum(['queued', 'starting', 'active', 'stopping', 'stopped']);

/** An item of work in responses. */
export const work = z
  .strictObject({
    type: z.literal('work'),
    id: z.string(),
    environment_id: z.string(),
    data: z.strictObject({ type: z.enum(['session', 'healthcheck']), id: z.string() }),
    state,
    metadata,
    secret: z.string().nullable(),
    created_at: moment,
    acknowledged_at: moment.nullable(),
    started_at: moment.nullable(),
    latest_heartbeat_at: moment.nullable(),
    stop_requested_at: moment.nullable(),
    stopped_at: moment.nullable(),
  })
  .meta({ id: 'Work' });

/** The response to a heartbeat. */
export const workHeartbeat = z
  .strictObject({
    type: z.literal('work_heartbeat'),
    last_heartbeat: moment,
    lease_extended: z.boolean(),
    state,
    ttl_seconds: z.number(),
  })
  .meta({ id: 'WorkHeartbeat' });

/** The sizes of a queue in responses. */
export const workQueueStats = z
  .strictObject({
    type: z.literal('work_queue_stats'),
    depth: z.int(),
    pending: z.int(),
    oldest_queued_at: moment.nullable(),
    workers_polling: z.int().nullable(),
  })
  .meta({ id: 'WorkQueueStats' });

/** The query of a poll. */
export const workPollQuery = z.strictObject({
  block_ms: z.int().min(1).max(httpLimits.workBlockMsMax).exactOptional(),
  reclaim_older_than_ms: z.int().min(0).max(httpLimits.workReclaimMsMax).default(httpLimits.workReclaimMs),
});

/** The query of a heartbeat, which names the previous one. */
export const workHeartbeatQuery = z.strictObject({
  desired_ttl_seconds: z
    .int()
    .min(1)
    .max(httpLimits.workLeaseMsMax / 1_000)
    .exactOptional(),
  expected_last_heartbeat: z.string().exactOptional(),
});

/** The body that stops an item. */
export const workStopBody = z.strictObject({ force: z.boolean().nullable().exactOptional() });
/** The body that changes metadata of an item. */
export const workUpdateBody = z.strictObject({ metadata: metadataPatch });
/** The query of a list of items. */
export const workListQuery = z.strictObject(
  pageQuery({ max: storeLimits.recordPageItemsMax, normally: httpLimits.recordPageItemsDefault }),
);
