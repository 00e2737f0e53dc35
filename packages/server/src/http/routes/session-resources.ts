import { z } from 'zod';
import { sessionError } from '../../sessions/session-errors.ts';
import type { Store } from '../../store/store.ts';
import { doorError } from '../door-error.ts';
import type { SessionResources } from '../files/session-resources.ts';
import { wirePage } from '../paging.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { deletedResource, fileResource, fileResourceParams, resourceListQuery } from '../schemas/file.ts';
import { dataOf, readSession } from './read-session.ts';

export interface ResourceRoutesOptions {
  readonly store: Store;
  readonly resources: SessionResources;
}

/** `/v1/sessions/{session_id}/resources`: files that are mounted for the agents of a session. */
export function createResourceRoutes({ store, resources }: ResourceRoutesOptions): readonly AnyRoute[] {
  const path = '/v1/sessions/{session_id}/resources' as const;
  return [
    defineRoute({
      name: 'sessions.resources.list',
      summary: 'List what is mounted for a session',
      method: 'get',
      path,
      accepts: ['api', 'environment', 'session'],
      query: resourceListQuery,
      gives: wirePage(fileResource),
      handle: async ({ credential, params, query }) => {
        const { id } = await readSession(store, credential, params.session_id);
        const all = await resources.list(id);
        const after = query.page?.replace(/^page_/, '');
        const from = after === undefined ? 0 : all.findIndex((each) => each.id === after) + 1;
        if (after !== undefined && from === 0) throw unknownPage();
        const data = all.slice(from, from + query.limit);
        const hasMore = from + data.length < all.length;
        return { data, next_page: hasMore ? `page_${data.at(-1)!.id}` : null };
      },
    }),
    defineRoute({
      name: 'sessions.resources.add',
      summary: 'Mount a file for a session',
      method: 'post',
      path,
      accepts: ['api'],
      body: fileResourceParams,
      gives: fileResource,
      handle: async ({ credential, params, body }) => {
        const session = await readSession(store, credential, params.session_id);
        checkMountable(dataOf(session).environment_type);
        if (session.status === 'terminated')
          throw sessionError('session_terminated', `${session.id} has ended for good`);
        const at = { workspaceId: credential.workspaceId, sessionId: session.id };
        const [added] = await resources.add(at, [body]);
        // Deleted meanwhile, it has been tidied up before this was added.
        if (!(await store.heads([session.id])).has(session.id)) {
          await resources.forget(session.id);
          return unknown(session.id);
        }
        return added!;
      },
    }),
    defineRoute({
      name: 'sessions.resources.retrieve',
      summary: 'Read about what is mounted for a session',
      method: 'get',
      path: `${path}/{resource_id}`,
      accepts: ['api', 'environment', 'session'],
      gives: fileResource,
      handle: async ({ credential, params }) => {
        const { id } = await readSession(store, credential, params.session_id);
        const found = (await resources.list(id)).find((each) => each.id === params.resource_id);
        return found ?? unknown(params.resource_id);
      },
    }),
    defineRoute({
      name: 'sessions.resources.update',
      summary: 'Give a repository another token; there are no repositories here',
      method: 'post',
      path: `${path}/{resource_id}`,
      accepts: ['api'],
      body: z.strictObject({ authorization_token: z.string() }),
      gives: fileResource,
      handle: async ({ credential, params }) => {
        const { id } = await readSession(store, credential, params.session_id);
        const found = (await resources.list(id)).find((each) => each.id === params.resource_id);
        if (found === undefined) return unknown(params.resource_id);
        const advice = 'delete it and mount another file';
        throw doorError('invalid_request', 'authorization_token: files have none', { advice });
      },
    }),
    defineRoute({
      name: 'sessions.resources.delete',
      summary: 'Take away what is mounted for a session',
      method: 'delete',
      path: `${path}/{resource_id}`,
      accepts: ['api'],
      gives: deletedResource,
      handle: async ({ credential, params }) => {
        const { id } = await readSession(store, credential, params.session_id);
        if (!(await resources.delete(id, params.resource_id))) return unknown(params.resource_id);
        return { type: 'session_resource_deleted', id: params.resource_id };
      },
    }),
  ];
}

/** Where a worker runs the tools, nothing can be mounted from here. */
export function checkMountable(environmentType: 'cloud' | 'self_hosted'): void {
  if (environmentType === 'cloud') return;
  const advice = 'let the worker fetch what it needs';
  throw doorError('invalid_request', 'resources: are not for self-hosted environments', { advice });
}

function unknown(id: string): never {
  throw doorError('unknown_id', `${id} does not exist`);
}

function unknownPage() {
  const advice = 'use next_page of an earlier answer, or leave it out';
  return doorError('invalid_request', 'page: is no page of this list', { advice });
}
