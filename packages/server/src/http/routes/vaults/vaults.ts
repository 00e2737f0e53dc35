import type { Vaults } from '../../../vaults/vaults.ts';
import { wirePage } from '../../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';
import { deletedVault, vault, vaultCreateBody, vaultListQuery, vaultUpdateBody } from '../../schemas/vault.ts';

/** `/v1/vaults`, without their credentials. */
export function createVaultRoutes(vaults: Vaults): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'vaults.create',
      summary: 'Create a vault',
      method: 'post',
      path: '/v1/vaults',
      accepts: ['api'],
      body: vaultCreateBody,
      gives: vault,
      handle: ({ credential, body, audit }) => vaults.create(credential.workspaceId, body, audit),
    }),
    defineRoute({
      name: 'vaults.list',
      summary: 'List vaults, the newest first',
      method: 'get',
      path: '/v1/vaults',
      accepts: ['api'],
      query: vaultListQuery,
      gives: wirePage(vault),
      handle: ({ credential, query: { include_archived: includeArchived, ...page } }) =>
        vaults.list(credential.workspaceId, { ...page, includeArchived }),
    }),
    defineRoute({
      name: 'vaults.retrieve',
      summary: 'Read a vault',
      method: 'get',
      path: '/v1/vaults/{vault_id}',
      accepts: ['api'],
      gives: vault,
      handle: ({ credential, params }) => vaults.get(credential.workspaceId, params.vault_id),
    }),
    defineRoute({
      name: 'vaults.update',
      summary: 'Change a vault',
      method: 'post',
      path: '/v1/vaults/{vault_id}',
      accepts: ['api'],
      body: vaultUpdateBody,
      gives: vault,
      handle: ({ credential, params, body, audit }) =>
        vaults.update(credential.workspaceId, params.vault_id, body, audit),
    }),
    defineRoute({
      name: 'vaults.archive',
      summary: 'Archive a vault and its credentials, and erase their secrets',
      method: 'post',
      path: '/v1/vaults/{vault_id}/archive',
      accepts: ['api'],
      gives: vault,
      handle: ({ credential, params, audit }) => vaults.archive(credential.workspaceId, params.vault_id, audit),
    }),
    defineRoute({
      name: 'vaults.delete',
      summary: 'Delete a vault with its credentials',
      method: 'delete',
      path: '/v1/vaults/{vault_id}',
      accepts: ['api'],
      gives: deletedVault,
      handle: ({ credential, params, audit }) => vaults.delete(credential.workspaceId, params.vault_id, audit),
    }),
  ];
}
