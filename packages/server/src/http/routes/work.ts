import { cutText } from '@fleetloom/protocol/fleet';
import type { WorkSecret } from '@fleetloom/protocol/managed-agents';
import { httpLimits } from '../limits.ts';
import type { WorkAt, WorkQueue } from '../../environments/work-queue.ts';
import type { Credential } from '../../keys/credential.ts';
import type { SessionTokens } from '../../keys/session-tokens.ts';
import { requestError } from '../../base/request-error.ts';
import { toPageRequest, toWirePage, wirePage } from '../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import {
  work,
  workHeartbeat,
  workHeartbeatQuery,
  workListQuery,
  workPollQuery,
  workQueueStats,
  workStopBody,
  workUpdateBody,
} from '../schemas/work.ts';

/** The queue of work, and the tokens for its workers. */
export interface WorkRoutesOptions {
  readonly queue: WorkQueue;
  readonly tokens: SessionTokens;
}

/** `/v1/environments/{environment_id}/work`: the queue that workers of self-hosted environments poll. */
export function createWorkRoutes({ queue, tokens }: WorkRoutesOptions): readonly AnyRoute[] {
  const workPath = '/v1/environments/{environment_id}/work/{work_id}' as const;
  return [
    defineRoute({
      name: 'work.poll',
      summary: 'Poll for an item of work; null if there is none',
      method: 'get',
      path: '/v1/environments/{environment_id}/work/poll',
      accepts: ['api', 'environment'],
      takes: true,
      query: workPollQuery,
      gives: work.nullable(),
      handle: async ({ credential, params, query, headers, signal }) => {
        const { workspaceId, id: keyId } = credential;
        const loginId = credential.kind === 'api' ? credential.login?.id : undefined;
        const { environment_id: environmentId } = params;
        const item = await queue.poll({
          workspaceId,
          environmentId,
          workerId: toWorkerId(headers['anthropic-worker-id']),
          blockMs: query.block_ms ?? 0,
          reclaimMs: query.reclaim_older_than_ms,
          signal,
        });
        if (item === null) return null;
        const ttlMs = httpLimits.sessionTokenMs;
        const token = tokens.issue({ workspaceId, environmentId, sessionId: item.data.id, keyId, loginId, ttlMs });
        return { ...item, secret: toSecret({ sessions_token: token }) };
      },
    }),
    defineRoute({
      name: 'work.stats',
      summary: 'Read how many items wait and how many workers poll',
      method: 'get',
      path: '/v1/environments/{environment_id}/work/stats',
      accepts: ['api', 'environment'],
      gives: workQueueStats,
      handle: ({ credential: { workspaceId }, params }) =>
        queue.stats({ workspaceId, environmentId: params.environment_id }),
    }),
    defineRoute({
      name: 'work.list',
      summary: 'List items of work, the newest first',
      method: 'get',
      path: '/v1/environments/{environment_id}/work',
      accepts: ['api', 'environment'],
      query: workListQuery,
      gives: wirePage(work),
      handle: async ({ credential: { workspaceId }, params, query }) =>
        toWirePage(await queue.list({ ...toPageRequest(query), workspaceId, environmentId: params.environment_id })),
    }),
    defineRoute({
      name: 'work.retrieve',
      summary: 'Read an item of work',
      method: 'get',
      path: workPath,
      accepts: ['api', 'environment', 'session'],
      gives: work,
      handle: ({ credential, params }) => queue.get(toAt(credential, params)),
    }),
    defineRoute({
      name: 'work.update',
      summary: 'Change the metadata of an item of work',
      method: 'post',
      path: workPath,
      accepts: ['api', 'environment', 'session'],
      body: workUpdateBody,
      gives: work,
      handle: ({ credential, params, body }) => queue.update(toAt(credential, params), body.metadata),
    }),
    defineRoute({
      name: 'work.ack',
      summary: 'Acknowledge an item of work that a poll returned',
      method: 'post',
      path: `${workPath}/ack`,
      accepts: ['api', 'environment', 'session'],
      gives: work,
      handle: ({ credential, params }) => queue.acknowledge(toAt(credential, params)),
    }),
    defineRoute({
      name: 'work.heartbeat',
      summary: 'Extend the lease of an item of work',
      method: 'post',
      path: `${workPath}/heartbeat`,
      accepts: ['api', 'environment', 'session'],
      query: workHeartbeatQuery,
      gives: workHeartbeat,
      handle: async ({ credential, params, query }) => {
        const { desired_ttl_seconds: seconds, expected_last_heartbeat: expected } = query;
        const outcome = await queue.heartbeat(toAt(credential, params), {
          ttlMs: seconds === undefined ? undefined : seconds * 1_000,
          expected: expected === NO_HEARTBEAT ? null : expected,
        });
        if (outcome.isHeld) return outcome.heartbeat;
        const problem = `the last heartbeat of ${params.work_id} has another time`;
        throw requestError('heartbeat_precondition_failed', problem, { details: { current_state: outcome.current } });
      },
    }),
    defineRoute({
      name: 'work.stop',
      summary: 'Stop an item of work, or ask its worker to stop',
      method: 'post',
      path: `${workPath}/stop`,
      accepts: ['api', 'environment', 'session'],
      body: workStopBody,
      gives: work,
      handle: ({ credential, params, body }) =>
        // A worker that reports this has finished; only another client can request it.
        queue.stop(toAt(credential, params), { isForced: body.force === true || credential.kind !== 'api' }),
    }),
  ];
}

/** The value that a worker sends with its first heartbeat. */
const NO_HEARTBEAT = 'NO_HEARTBEAT';

function toAt(credential: Credential, params: { environment_id: string; work_id: string }): WorkAt {
  return {
    workspaceId: credential.workspaceId,
    environmentId: params.environment_id,
    workId: params.work_id,
    sessionId: credential.kind === 'session' ? credential.sessionId : undefined,
  };
}

function toSecret(secret: WorkSecret): string {
  return Buffer.from(JSON.stringify(secret)).toString('base64url');
}

function toWorkerId(header: string | string[] | undefined): string | undefined {
  const name = Array.isArray(header) ? header[0] : header;
  return name === undefined || name === '' ? undefined : cutText(name, httpLimits.workerIdCharsMax);
}
