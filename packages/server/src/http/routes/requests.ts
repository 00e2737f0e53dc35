import { cutText } from '@fleetloom/protocol/fleet';
import { z } from 'zod';
import { httpLimits } from '../limits.ts';
import { storeLimits } from '../../store/limits.ts';
import type { RunRecord } from '../../frames/record-data.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { SessionLog } from '../../log/log.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import { requestError } from '../../base/request-error.ts';
import { pageQuery, toPageRequest, toWirePage } from '../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { fleetQuery } from '../schemas/fleet.ts';
import { fleetRequest, fleetRequests } from '../schemas/orchestrate.ts';
import { createRunFinder, type FoundRun } from './find-run.ts';
import type { FleetFeeds } from '../feeds/fleet-feeds.ts';
import { dataOf } from './read-session.ts';

/** The services that find, watch and cancel runs. */
export interface RequestRoutesOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly sessions: Sessions;
  readonly feeds: FleetFeeds;
  readonly schedule?: Schedule;
}

/** `/v1/requests`: runs by their ids, however they were started. */
export function createRequestRoutes(options: RequestRoutesOptions): readonly AnyRoute[] {
  const { store, sessions, feeds } = options;
  const runs = createRunFinder(options);

  return [
    defineRoute({
      name: 'requests.list',
      summary: 'List the newest run of each session, the newest session first',
      method: 'get',
      path: '/v1/requests',
      accepts: ['api'],
      query: z.strictObject(
        pageQuery({ max: storeLimits.recordPageItemsMax, normally: httpLimits.recordPageItemsDefault }),
      ),
      gives: fleetRequests,
      handle: async ({ credential: { workspaceId }, query }) => {
        const page = await store.sessions.list({ ...toPageRequest(query), order: 'desc', workspaceId });
        const items = page.items.map(async (session) => {
          const { run } = dataOf(session);
          return run === null ? [] : [await read({ session, run })];
        });
        return toWirePage({ ...page, items: (await Promise.all(items)).flat() });
      },
    }),
    defineRoute({
      name: 'requests.retrieve',
      summary: 'Read the state of a run',
      method: 'get',
      path: '/v1/requests/{request_id}',
      accepts: ['api'],
      gives: fleetRequest,
      handle: async ({ credential: { workspaceId }, params: { request_id: runId } }) => {
        const found = await runs.find(workspaceId, runId);
        if (found === undefined) throw unknown(runId);
        return read(found);
      },
    }),
    defineRoute({
      name: 'requests.events',
      summary: 'Watch a run from any of its events',
      method: 'get',
      path: '/v1/requests/{request_id}/events',
      accepts: ['api'],
      query: fleetQuery.omit({ from: true }).extend({ since_seq: sinceSeq.exactOptional() }),
      gives: 'stream',
      handle: async ({ credential: { workspaceId }, params: { request_id: runId }, query, headers, openStream }) => {
        const found = await runs.find(workspaceId, runId);
        if (found === undefined) throw unknown(runId);
        const { since_seq: since, after, ...rest } = query;
        const cursor = since ?? after;
        const place = cursor === undefined ? {} : { after: cursor };
        return feeds.open({
          sessionId: found.session.id,
          query: { ...rest, ...place, from: 'start' },
          headers,
          openStream,
          run: {
            id: runId,
            before: await runs.findStart(found),
            last: found.run.ended_at === null ? null : await runs.findLastSeq(found),
          },
        });
      },
    }),
    defineRoute({
      name: 'requests.cancel',
      summary: 'Stop a run',
      method: 'post',
      path: '/v1/requests/{request_id}/cancel',
      accepts: ['api'],
      gives: fleetRequest,
      handle: async ({ credential: { workspaceId }, params: { request_id: runId } }) => {
        const found = await runs.find(workspaceId, runId);
        // A run that has ended, is unknown or belongs to another workspace gets the same answer.
        if (found === undefined || found.run.ended_at !== null) throw unknown(runId);
        const interrupt = { type: 'user.interrupt', session_thread_id: null } as const;
        await sessions.send({ workspaceId, sessionId: found.session.id, events: [interrupt] });
        // The client expects the run to have stopped when it gets the answer.
        await runs.waitForEnd(found, httpLimits.cancelWaitMs);
        return read((await runs.find(workspaceId, runId)) ?? found);
      },
    }),
  ];

  async function read(found: FoundRun) {
    return toRequest(found.session, found.run, await runs.findLastSeq(found));
  }
}

/**
 * The cursor of the last event that the reader has, or only its `seq`. Several events share a `seq`, and a reader that was disconnected
 * between them has at least the first: all of them are sent again with the same cursors, because losing one would be worse.
 */
const sinceSeq = z.string().regex(/^\d{1,15}(?:\.\d{1,9})?$/, 'must be the cursor or the seq of an event');

function unknown(runId: string) {
  return requestError(
    'unknown_id',
    `there is no run ${cutText(runId, httpLimits.pathIdCharsMax)} that is open or can be read`,
  );
}

function toRequest(session: SessionRecord, run: RunRecord, lastSeq: number) {
  return {
    request_id: run.id,
    session_id: session.id,
    state: run.state,
    agent: run.agent_name,
    message: run.message,
    started_at: new Date(run.started_at).toISOString(),
    ended_at: run.ended_at === null ? null : new Date(run.ended_at).toISOString(),
    last_seq: lastSeq,
  };
}
