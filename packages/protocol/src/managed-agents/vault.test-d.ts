import type * as credentials from '@anthropic-ai/sdk/resources/beta/vaults/credentials';
import type * as vaults from '@anthropic-ai/sdk/resources/beta/vaults/vaults';
import type {
  CapturedResponse,
  CredentialAuth,
  CredentialAuthParams,
  CredentialAuthUpdate,
  CredentialNetworking,
  DeletedVault,
  DeletedVaultCredential,
  EnvironmentVariableAuth,
  McpOAuthAuth,
  McpOAuthRefresh,
  StaticBearerAuth,
  TokenEndpointAuthType,
  Vault,
  VaultCreateParams,
  VaultCredential,
  VaultCredentialCreateParams,
  VaultCredentialUpdateParams,
  VaultCredentialValidation,
  VaultListParams,
  VaultUpdateParams,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';

// Responses have the fields of the SDK's types.
expectTypeOf<keyof Vault>().toEqualTypeOf<keyof vaults.BetaManagedAgentsVault>();
expectTypeOf<keyof VaultCredential>().toEqualTypeOf<keyof credentials.BetaManagedAgentsCredential>();
expectTypeOf<keyof VaultCredentialValidation>().toEqualTypeOf<
  keyof credentials.BetaManagedAgentsCredentialValidation
>();
expectTypeOf<keyof CapturedResponse>().toEqualTypeOf<keyof credentials.BetaManagedAgentsRefreshHTTPResponse>();
expectTypeOf<DeletedVault>().toExtend<vaults.BetaManagedAgentsDeletedVault>();
expectTypeOf<DeletedVaultCredential>().toExtend<credentials.BetaManagedAgentsDeletedCredential>();
expectTypeOf<StaticBearerAuth>().toExtend<credentials.BetaManagedAgentsStaticBearerAuthResponse>();
expectTypeOf<keyof McpOAuthAuth>().toEqualTypeOf<keyof credentials.BetaManagedAgentsMCPOAuthAuthResponse>();
expectTypeOf<keyof EnvironmentVariableAuth>().toEqualTypeOf<
  keyof credentials.BetaManagedAgentsEnvironmentVariableAuthResponse
>();
expectTypeOf<CredentialAuth['type']>().toEqualTypeOf<credentials.BetaManagedAgentsCredential['auth']['type']>();

// Requests accept what the SDK sends.
expectTypeOf<{ display_name: string }>().toExtend<VaultCreateParams>();
expectTypeOf<{ display_name: string; metadata: { key: null } }>().toExtend<VaultUpdateParams>();
expectTypeOf<{ include_archived: boolean; limit: number }>().toExtend<VaultListParams>();
expectTypeOf<credentials.BetaManagedAgentsStaticBearerCreateParams>().toExtend<CredentialAuthParams>();
expectTypeOf<VaultCredentialCreateParams['auth']>().toEqualTypeOf<CredentialAuthParams>();
expectTypeOf<VaultCredentialUpdateParams['auth']>().toEqualTypeOf<CredentialAuthUpdate | undefined>();
expectTypeOf<CredentialNetworking['type']>().toEqualTypeOf<'unrestricted' | 'limited'>();
expectTypeOf<McpOAuthRefresh['token_endpoint_auth']['type']>().toEqualTypeOf<TokenEndpointAuthType>();

// A secret is sent and never returned.
expectTypeOf<CredentialAuth>().not.toHaveProperty('token');
expectTypeOf<CredentialAuth>().not.toHaveProperty('access_token');
expectTypeOf<CredentialAuth>().not.toHaveProperty('secret_value');
// @ts-expect-error: a token endpoint is asked in one of three ways
expectTypeOf<TokenEndpointAuthType>().toEqualTypeOf<'private_key_jwt'>();
