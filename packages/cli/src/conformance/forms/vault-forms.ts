import type {
  CredentialAuth,
  CredentialNetworking,
  DeletedVault,
  DeletedVaultCredential,
  McpOAuthAuth,
  McpOAuthRefresh,
  Vault,
  VaultCredential,
} from '@fleetloom/protocol/managed-agents';
import {
  bool,
  byType,
  type Form,
  id,
  list,
  literal,
  moment,
  nullable,
  object,
  optional,
  record,
  text,
} from './form.ts';

// Vaults and credentials. An unknown field is a problem, so a secret in a response is one too.

export const vaultForm: Form<Vault> = object<Vault>({
  type: literal('vault'),
  id: id('vlt'),
  display_name: text,
  metadata: record(text),
  created_at: moment,
  updated_at: moment,
  archived_at: nullable(moment),
});

const networking = byType<CredentialNetworking>({
  unrestricted: object({ type: literal('unrestricted') }),
  limited: object({ type: literal('limited'), allowed_hosts: list(text) }),
});

const auth = byType<CredentialAuth>({
  static_bearer: object({ type: literal('static_bearer'), mcp_server_url: text }),
  mcp_oauth: object<McpOAuthAuth>({
    type: literal('mcp_oauth'),
    mcp_server_url: text,
    expires_at: optional(moment),
    refresh: nullable(
      object<McpOAuthRefresh>({
        client_id: text,
        token_endpoint: text,
        token_endpoint_auth: object<McpOAuthRefresh['token_endpoint_auth']>({
          type: literal('none', 'client_secret_basic', 'client_secret_post'),
        }),
        resource: nullable(text),
        scope: nullable(text),
      }),
    ),
  }),
  environment_variable: object({
    type: literal('environment_variable'),
    secret_name: text,
    networking,
    injection_location: object({ header: bool, body: bool }),
  }),
});

export const credentialForm: Form<VaultCredential> = object<VaultCredential>({
  type: literal('vault_credential'),
  id: id('vcrd'),
  vault_id: id('vlt'),
  display_name: nullable(text),
  auth,
  metadata: record(text),
  created_at: moment,
  updated_at: moment,
  archived_at: nullable(moment),
});

export const deletedVaultForm: Form<DeletedVault> = object<DeletedVault>({
  type: literal('vault_deleted'),
  id: id('vlt'),
});

export const deletedCredentialForm: Form<DeletedVaultCredential> = object<DeletedVaultCredential>({
  type: literal('vault_credential_deleted'),
  id: id('vcrd'),
});
