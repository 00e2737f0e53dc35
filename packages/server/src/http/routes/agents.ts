import type { Agents } from '../../agents/agents.ts';
import { toPageRequest, toWirePage, wirePage } from '../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import {
  agent,
  agentCreateBody,
  agentListQuery,
  agentRetrieveQuery,
  agentUpdateBody,
  agentVersionListQuery,
} from '../schemas/agent.ts';

/** `/v1/agents`. */
export function createAgentRoutes(agents: Agents): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'agents.create',
      summary: 'Create an agent',
      method: 'post',
      path: '/v1/agents',
      accepts: ['api'],
      body: agentCreateBody,
      gives: agent,
      handle: ({ credential, body, audit }) => agents.create(credential.workspaceId, body, audit),
    }),
    defineRoute({
      name: 'agents.list',
      summary: 'List agents, the newest first',
      method: 'get',
      path: '/v1/agents',
      accepts: ['api'],
      query: agentListQuery,
      gives: wirePage(agent),
      handle: async ({ credential: { workspaceId }, query }) => {
        const request = { ...toPageRequest(query), workspaceId, includeArchived: query.include_archived };
        return toWirePage(await agents.list(request));
      },
    }),
    defineRoute({
      name: 'agents.retrieve',
      summary: 'Read one version of an agent, the newest if none is named',
      method: 'get',
      path: '/v1/agents/{agent_id}',
      accepts: ['api'],
      query: agentRetrieveQuery,
      gives: agent,
      handle: ({ credential, params, query }) => agents.get(credential.workspaceId, params.agent_id, query.version),
    }),
    defineRoute({
      name: 'agents.update',
      summary: 'Change an agent, which makes a new version',
      method: 'post',
      path: '/v1/agents/{agent_id}',
      accepts: ['api'],
      body: agentUpdateBody,
      gives: agent,
      handle: ({ credential, params, body, audit }) =>
        agents.update(credential.workspaceId, params.agent_id, body, audit),
    }),
    defineRoute({
      name: 'agents.archive',
      summary: 'Archive an agent',
      method: 'post',
      path: '/v1/agents/{agent_id}/archive',
      accepts: ['api'],
      gives: agent,
      handle: ({ credential, params, audit }) => agents.archive(credential.workspaceId, params.agent_id, audit),
    }),
    defineRoute({
      name: 'agents.versions.list',
      summary: 'List the versions of an agent, the newest first',
      method: 'get',
      path: '/v1/agents/{agent_id}/versions',
      accepts: ['api'],
      query: agentVersionListQuery,
      gives: wirePage(agent),
      handle: async ({ credential: { workspaceId }, params, query }) => {
        const request = { ...toPageRequest(query), workspaceId, id: params.agent_id };
        return toWirePage(await agents.listVersions(request));
      },
    }),
  ];
}
