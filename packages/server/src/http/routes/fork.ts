import type { MountedResource } from '@fleetloom/protocol/managed-agents';
import { nameOf } from '../../keys/name-of.ts';
import { toSessionSource } from '../convert/to-session-source.ts';
import { cutText } from '@fleetloom/protocol/fleet';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { sessionLimits } from '../../sessions/core/limits.ts';
import { modelsOf } from '../../agents/models-of.ts';
import { resolveSessionAgent } from '../../agents/session-agent.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { toSession } from '../../views/managed-agents/to-session.ts';
import { discardFailedSession } from '../../files/discard-failed-session.ts';
import { filesOf, type SessionResources } from '../../files/session-resources.ts';
import type { NewSession, SessionSources } from '../../workspaces/sources/session-sources.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { session, sessionForkBody } from '../schemas/session.ts';
import { headOf } from '../feeds/head-of.ts';
import { toSeq } from '../feeds/cursor-seq.ts';
import { checkDirectories, checkEngines } from './access/key-limits.ts';
import { dataOf, readSession } from './read-session.ts';
import type { CheckModel } from './sessions.ts';

/** The services that forking a session needs. */
export interface ForkRoutesOptions {
  readonly store: Store;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly resources: SessionResources;
  readonly sources: SessionSources;
  /** Removes the files of a session that was not created in the end. */
  readonly discard: (sessionId: string) => Promise<void>;
  /** Throws if a session of the workspace may not use the model, or could not start with it. */
  readonly checkModel?: CheckModel | undefined;
}

/** `/v1/sessions/{session_id}/fork`. */
export function createForkRoutes(options: ForkRoutesOptions): readonly AnyRoute[] {
  const { store, sessions, clock, ids, resources, sources, discard, checkModel } = options;
  return [
    defineRoute({
      name: 'sessions.fork',
      summary: 'Create a session with the history of this one up to a cursor',
      method: 'post',
      path: '/v1/sessions/{session_id}/fork',
      accepts: ['api'],
      body: sessionForkBody,
      startsWork: true,
      gives: session,
      handle: async ({ credential, params, body, memory }) => {
        const { workspaceId } = credential;
        const source = await readSession(store, credential, params.session_id);
        const upTo = body.at === undefined ? undefined : toSeq('at', body.at, await headOf(store, source.id));
        const agent =
          body.agent === undefined ? undefined : await resolveSessionAgent({ store, workspaceId, agent: body.agent });
        if (agent !== undefined) checkEngines(credential, modelsOf(agent));
        if (agent !== undefined) await checkModel?.(workspaceId, agent.model.id);
        const id = ids.next('sesn');
        const make = async () => {
          const mounted = await mountAgain(source.id, { workspaceId, sessionId: id });
          await checkDirectories(credential, mounted);
          const show = (record: SessionRecord) => ({ ...toSession(record, clock.now()), resources: mounted });
          // The session as it was created, also for a client that repeats the request.
          let answer: ReturnType<typeof show> | undefined;
          await sessions.fork({
            workspaceId,
            sourceId: source.id,
            id,
            upTo,
            title: body.title === undefined ? toTitle(dataOf(source).title) : body.title,
            ...(agent === undefined ? {} : { agent: () => agent }),
            ...toSessionSource(mounted),
            createdBy: nameOf(credential),
            toKey: (record) => memory.toKey((answer = show(record))),
          });
          return answer!;
        };
        return await discardFailedSession({ store, sessionId: id, discard }, make);
      },
    }),
  ];

  /** Mounted files are mounted again. Files written by agents are not copied: their state at that moment is unknown. */
  async function mountAgain(sourceId: string, at: NewSession): Promise<readonly MountedResource[]> {
    const there = await resources.list(sourceId);
    const added = await sources.addAgain(
      at,
      sourceId,
      there.filter((each) => each.type !== 'file'),
    );
    const files = filesOf(there).map(({ type, file_id, mount_path }) => ({ type, file_id, mount_path }));
    return files.length === 0 ? added : [...added, ...(await resources.add(at, files))];
  }
}

function toTitle(title: string | null): string | null {
  const mark = ' (fork)';
  return title === null ? null : `${cutText(title, sessionLimits.titleCharsMax - mark.length)}${mark}`;
}
