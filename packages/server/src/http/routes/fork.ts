import { cutText } from '@fleetloom/protocol/fleet';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { resolveSessionAgent } from '../../agents/session-agent.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { parseCursor } from '../../views/fleet/place.ts';
import { toSession } from '../../views/managed-agents/to-session.ts';
import { doorError } from '../door-error.ts';
import { discardUnmade } from '../files/discard-unmade.ts';
import type { SessionResources } from '../files/session-resources.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { session, sessionForkBody } from '../schemas/session.ts';
import { dataOf, headOf, readSession } from './read-session.ts';
import type { CheckModel } from './sessions.ts';

export interface ForkRoutesOptions {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly resources: SessionResources;
  /** Removes what was prepared for a session that was not made. */
  readonly discard: (sessionId: string) => Promise<void>;
  /** Throws where a session of the workspace may not have the model, or could not begin with it. */
  readonly checkModel?: CheckModel | undefined;
}

/** `/v1/sessions/{session_id}/fork`. */
export function createForkRoutes(options: ForkRoutesOptions): readonly AnyRoute[] {
  const { store, sessions, clock, ids, resources, discard, checkModel } = options;
  return [
    defineRoute({
      name: 'sessions.fork',
      summary: 'Make a new session of everything that happened in this one up to a moment',
      method: 'post',
      path: '/v1/sessions/{session_id}/fork',
      accepts: ['api'],
      body: sessionForkBody,
      gives: session,
      handle: async ({ credential, params, body, memory }) => {
        const { workspaceId } = credential;
        const source = await readSession(store, credential, params.session_id);
        const upTo = toSeq(body.at, await headOf(store, source.id));
        const agent =
          body.agent === undefined ? undefined : await resolveSessionAgent({ store, workspaceId, agent: body.agent });
        if (agent !== undefined) await checkModel?.(workspaceId, agent.model.id);
        const id = ids.next('sesn');
        const make = async () => {
          const mounted = await mountAgain(source.id, { workspaceId, sessionId: id });
          const show = (record: SessionRecord) => ({ ...toSession(record, clock.now()), resources: mounted });
          // As it is made, also for who has to ask again.
          let answer: ReturnType<typeof show> | undefined;
          await sessions.fork({
            workspaceId,
            sourceId: source.id,
            id,
            upTo,
            title: body.title === undefined ? toTitle(dataOf(source).title) : body.title,
            ...(agent === undefined ? {} : { agent: () => agent }),
            toKey: (record) => memory.toKey((answer = show(record))),
          });
          return answer!;
        };
        return await discardUnmade({ store, sessionId: id, discard }, make);
      },
    }),
  ];

  /** What was mounted there is mounted here. What agents have written since is not: nobody knows how it was at that moment. */
  async function mountAgain(sourceId: string, at: { readonly workspaceId: string; readonly sessionId: string }) {
    const there = await resources.list(sourceId);
    if (there.length === 0) return [];
    return await resources.add(
      at,
      there.map(({ type, file_id, mount_path }) => ({ type, file_id, mount_path })),
    );
  }
}

function toSeq(cursor: string | undefined, head: number): number | undefined {
  if (cursor === undefined) return undefined;
  const place = parseCursor(cursor);
  if (place !== undefined && place.seq > head) {
    throw doorError('invalid_request', `at: ${cursor} is behind the end of the log, whose last cursor is ${head}`, {
      advice: 'give the cursor of an event of this session, or leave it out to fork the session as it is',
    });
  }
  if (place !== undefined) return place.seq;
  throw doorError('invalid_request', `at: ${cutText(cursor, 40)} is no cursor`, {
    advice: 'give the cursor of an event of the fleet stream, or leave it out to fork the session as it is',
  });
}

function toTitle(title: string | null): string | null {
  const mark = ' (fork)';
  return title === null ? null : `${cutText(title, limits.titleCharsMax - mark.length)}${mark}`;
}
