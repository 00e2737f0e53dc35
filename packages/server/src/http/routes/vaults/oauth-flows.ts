import type { OAuthFlows } from '../../../vaults/oauth/flows.ts';
import { toOwnUrl } from '../../own-url.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';
import { oauthFlow, oauthFlowCreateBody, oauthFlowStarted } from '../../schemas/vault.ts';

/** `/v1/vaults/{vault_id}/oauth_flows`: credentials that a user consents to in a browser. */
export function createOAuthFlowRoutes(flows: OAuthFlows): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'oauth_flows.create',
      summary: 'Begin to connect an MCP server: returns the address where its user consents',
      method: 'post',
      path: '/v1/vaults/{vault_id}/oauth_flows',
      accepts: ['api'],
      body: oauthFlowCreateBody,
      gives: oauthFlowStarted,
      handle: ({ credential: { workspaceId }, params, body, incoming, audit }) =>
        flows.begin({ workspaceId, vaultId: params.vault_id }, body, toOwnUrl(incoming), audit),
    }),
    defineRoute({
      name: 'oauth_flows.retrieve',
      summary: 'Read what came of connecting an MCP server',
      method: 'get',
      path: '/v1/vaults/{vault_id}/oauth_flows/{flow_id}',
      accepts: ['api'],
      gives: oauthFlow,
      handle: ({ credential: { workspaceId }, params: { vault_id: vaultId, flow_id: id } }) =>
        flows.get({ workspaceId, vaultId, id }),
    }),
  ];
}
