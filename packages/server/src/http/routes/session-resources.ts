import { z } from 'zod';
import { sessionError } from '../../sessions/core/session-errors.ts';
import type { Store } from '../../store/store.ts';
import { requestError } from '../../base/request-error.ts';
import type { SessionResources } from '../../files/session-resources.ts';
import type { RepositorySources } from '../../workspaces/repository-sources.ts';
import { wirePage } from '../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import {
  deletedResource,
  fileResource,
  fileResourceParams,
  repositoryToken,
  resourceListQuery,
  sessionResource,
} from '../schemas/file.ts';
import { dataOf, readSession } from './read-session.ts';

/** The stores of sessions and their mounted files. */
export interface ResourceRoutesOptions {
  readonly store: Store;
  readonly resources: SessionResources;
  readonly repositories: Pick<RepositorySources, 'rotate'>;
}

/** `/v1/sessions/{session_id}/resources`: files that are mounted for the agents of a session. */
export function createResourceRoutes({ store, resources, repositories }: ResourceRoutesOptions): readonly AnyRoute[] {
  const path = '/v1/sessions/{session_id}/resources' as const;
  return [
    defineRoute({
      name: 'sessions.resources.list',
      summary: 'List the files mounted in a session',
      method: 'get',
      path,
      accepts: ['api', 'environment', 'session'],
      query: resourceListQuery,
      gives: wirePage(sessionResource),
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
      summary: 'Mount a file in a session',
      method: 'post',
      path,
      accepts: ['api'],
      body: fileResourceParams,
      gives: fileResource,
      handle: async ({ credential, params, body }) => {
        const session = await readSession(store, credential, params.session_id);
        checkMountable(dataOf(session).environment_type);
        if (session.status === 'terminated') throw sessionError('session_terminated', `${session.id} is terminated`);
        const at = { workspaceId: credential.workspaceId, sessionId: session.id };
        const [added] = await resources.add(at, [body]);
        // A session deleted in the meantime was cleaned up before this file was added.
        if (!(await store.heads([session.id])).has(session.id)) {
          await resources.forget(session.id);
          return unknown(session.id);
        }
        return added!;
      },
    }),
    defineRoute({
      name: 'sessions.resources.retrieve',
      summary: 'Read a mounted file of a session',
      method: 'get',
      path: `${path}/{resource_id}`,
      accepts: ['api', 'environment', 'session'],
      gives: sessionResource,
      handle: async ({ credential, params }) => {
        const { id } = await readSession(store, credential, params.session_id);
        const found = (await resources.list(id)).find((each) => each.id === params.resource_id);
        return found ?? unknown(params.resource_id);
      },
    }),
    defineRoute({
      name: 'sessions.resources.update',
      summary: 'Replace the token of a repository',
      method: 'post',
      path: `${path}/{resource_id}`,
      accepts: ['api'],
      body: z.strictObject({ authorization_token: repositoryToken }),
      gives: sessionResource,
      handle: async ({ credential, params, body }) => {
        const { id } = await readSession(store, credential, params.session_id);
        const found = (await resources.list(id)).find((each) => each.id === params.resource_id);
        if (found === undefined) return unknown(params.resource_id);
        await repositories.rotate(id, found, body.authorization_token);
        return (await resources.touch(id, found.id)) ?? unknown(found.id);
      },
    }),
    defineRoute({
      name: 'sessions.resources.delete',
      summary: 'Remove a mounted file from a session',
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

/** Throws if a worker runs the tools: the server cannot mount files there. */
export function checkMountable(environmentType: 'cloud' | 'self_hosted'): void {
  if (environmentType === 'cloud') return;
  const advice = 'let the worker fetch what it needs';
  throw requestError('invalid_request', 'resources: are not supported in self-hosted environments', { advice });
}

function unknown(id: string): never {
  throw requestError('unknown_id', `${id} does not exist`);
}

function unknownPage() {
  const advice = 'use next_page of an earlier response, or leave it out';
  return requestError('invalid_request', 'page: is not a page of this list', { advice });
}
