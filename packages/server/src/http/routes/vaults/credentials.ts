import type { VaultCredentialValidation } from '@fleetloom/protocol/managed-agents';
import type { Auditor } from '../../../store/audit.ts';
import type { Credentials } from '../../../vaults/credentials.ts';
import type { CredentialPath } from '../../../vaults/stored.ts';
import { wirePage } from '../../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';
import {
  credential as credentialSchema,
  credentialCreateBody,
  credentialUpdateBody,
  credentialValidation,
  deletedCredential,
  vaultListQuery,
} from '../../schemas/vault.ts';

/** Asks the MCP server of a credential whether it accepts it. */
export type ValidateCredential = (path: CredentialPath, audit?: Auditor) => Promise<VaultCredentialValidation>;

/** `/v1/vaults/{vault_id}/credentials`. */
export function createCredentialRoutes(credentials: Credentials, validate: ValidateCredential): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'credentials.create',
      summary: 'Add a credential to a vault; its secrets are never returned',
      method: 'post',
      path: '/v1/vaults/{vault_id}/credentials',
      accepts: ['api'],
      body: credentialCreateBody,
      gives: credentialSchema,
      handle: ({ credential: { workspaceId }, params, body, audit }) =>
        credentials.create({ workspaceId, vaultId: params.vault_id }, body, audit),
    }),
    defineRoute({
      name: 'credentials.list',
      summary: 'List the credentials of a vault, the newest first',
      method: 'get',
      path: '/v1/vaults/{vault_id}/credentials',
      accepts: ['api'],
      query: vaultListQuery,
      gives: wirePage(credentialSchema),
      handle: ({ credential: { workspaceId }, params, query: { include_archived: includeArchived, ...page } }) =>
        credentials.list({ workspaceId, vaultId: params.vault_id }, { ...page, includeArchived }),
    }),
    defineRoute({
      name: 'credentials.retrieve',
      summary: 'Read a credential, without its secrets',
      method: 'get',
      path: '/v1/vaults/{vault_id}/credentials/{credential_id}',
      accepts: ['api'],
      gives: credentialSchema,
      handle: ({ credential, params }) => credentials.get(toPath(credential, params)),
    }),
    defineRoute({
      name: 'credentials.update',
      summary: 'Change a credential, or replace its secrets',
      method: 'post',
      path: '/v1/vaults/{vault_id}/credentials/{credential_id}',
      accepts: ['api'],
      body: credentialUpdateBody,
      gives: credentialSchema,
      handle: ({ credential, params, body, audit }) => credentials.update(toPath(credential, params), body, audit),
    }),
    defineRoute({
      name: 'credentials.archive',
      summary: 'Archive a credential and erase its secrets',
      method: 'post',
      path: '/v1/vaults/{vault_id}/credentials/{credential_id}/archive',
      accepts: ['api'],
      gives: credentialSchema,
      handle: ({ credential, params, audit }) => credentials.archive(toPath(credential, params), audit),
    }),
    defineRoute({
      name: 'credentials.delete',
      summary: 'Delete a credential',
      method: 'delete',
      path: '/v1/vaults/{vault_id}/credentials/{credential_id}',
      accepts: ['api'],
      gives: deletedCredential,
      handle: ({ credential, params, audit }) => credentials.delete(toPath(credential, params), audit),
    }),
    defineRoute({
      name: 'credentials.validate',
      summary: 'Ask the MCP server of a credential whether it accepts the token',
      method: 'post',
      path: '/v1/vaults/{vault_id}/credentials/{credential_id}/mcp_oauth_validate',
      accepts: ['api'],
      gives: credentialValidation,
      handle: ({ credential, params, audit }) => validate(toPath(credential, params), audit),
    }),
  ];
}

function toPath(
  { workspaceId }: { readonly workspaceId: string },
  { vault_id: vaultId, credential_id: id }: { readonly vault_id: string; readonly credential_id: string },
): CredentialPath {
  return { workspaceId, vaultId, id };
}
