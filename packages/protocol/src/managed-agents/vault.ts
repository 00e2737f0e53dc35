import type { PageParams } from './page.ts';

/** A collection of credentials that sessions can be given. */
export interface Vault {
  readonly type: 'vault';
  readonly id: string;
  readonly display_name: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
}

/** A credential of a vault. No response contains its secrets. */
export interface VaultCredential {
  readonly type: 'vault_credential';
  readonly id: string;
  readonly vault_id: string;
  readonly display_name: string | null;
  readonly auth: CredentialAuth;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
}

/** The kind and target of a credential, without its secrets. */
export type CredentialAuth = StaticBearerAuth | McpOAuthAuth | EnvironmentVariableAuth;

/** A token that is sent to an MCP server unchanged. */
export interface StaticBearerAuth {
  readonly type: 'static_bearer';
  readonly mcp_server_url: string;
}

/** An access token for an MCP server, which is renewed with `refresh` if that is set. */
export interface McpOAuthAuth {
  readonly type: 'mcp_oauth';
  readonly mcp_server_url: string;
  /** When the token expires; absent if unknown. */
  readonly expires_at?: string;
  readonly refresh: McpOAuthRefresh | null;
}

/** How an access token is renewed. */
export interface McpOAuthRefresh {
  readonly client_id: string;
  readonly token_endpoint: string;
  readonly token_endpoint_auth: { readonly type: TokenEndpointAuthType };
  readonly resource: string | null;
  readonly scope: string | null;
}

/** How a client authenticates at a token endpoint. */
export type TokenEndpointAuthType = 'none' | 'client_secret_basic' | 'client_secret_post';

/** A secret for requests of the commands that an agent runs. */
export interface EnvironmentVariableAuth {
  readonly type: 'environment_variable';
  readonly secret_name: string;
  readonly networking: CredentialNetworking;
  readonly injection_location: { readonly header: boolean; readonly body: boolean };
}

/** The hosts that a secret may be sent to. */
export type CredentialNetworking =
  | { readonly type: 'unrestricted' }
  | { readonly type: 'limited'; readonly allowed_hosts: readonly string[] };

/** The body of a request that creates a vault. */
export interface VaultCreateParams {
  readonly display_name: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The body of a request that changes a vault. Absent and null fields keep their value. */
export interface VaultUpdateParams {
  readonly display_name?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>> | null;
}

/** The query of a list of vaults or credentials. */
export interface VaultListParams extends PageParams {
  readonly include_archived?: boolean;
}

/** The body of a request that creates a credential. */
export interface VaultCredentialCreateParams {
  readonly auth: CredentialAuthParams;
  readonly display_name?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The kind and target of a credential, with its secrets. */
export type CredentialAuthParams =
  | { readonly type: 'static_bearer'; readonly mcp_server_url: string; readonly token: string }
  | {
      readonly type: 'mcp_oauth';
      readonly mcp_server_url: string;
      readonly access_token: string;
      readonly expires_at?: string | null;
      readonly refresh?: {
        readonly client_id: string;
        readonly refresh_token: string;
        readonly token_endpoint: string;
        readonly token_endpoint_auth:
          | { readonly type: 'none' }
          | { readonly type: 'client_secret_basic' | 'client_secret_post'; readonly client_secret: string };
        readonly resource?: string | null;
        readonly scope?: string | null;
      } | null;
    }
  | {
      readonly type: 'environment_variable';
      readonly secret_name: string;
      readonly secret_value: string;
      readonly networking: CredentialNetworking;
      readonly injection_location?: { readonly header?: boolean; readonly body?: boolean };
    };

/** The body of a request that changes a credential. */
export interface VaultCredentialUpdateParams {
  readonly auth?: CredentialAuthUpdate;
  readonly display_name?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>> | null;
}

/** New secrets and settings. The type must be the type of the credential. */
export type CredentialAuthUpdate =
  | { readonly type: 'static_bearer'; readonly token?: string | null }
  | {
      readonly type: 'mcp_oauth';
      readonly access_token?: string | null;
      readonly expires_at?: string | null;
      readonly refresh?: {
        readonly refresh_token?: string | null;
        readonly scope?: string | null;
        readonly token_endpoint_auth?: {
          readonly type: 'client_secret_basic' | 'client_secret_post';
          readonly client_secret?: string | null;
        };
      } | null;
    }
  | {
      readonly type: 'environment_variable';
      readonly secret_value?: string | null;
      readonly networking?: CredentialNetworking | null;
      readonly injection_location?: { readonly header?: boolean; readonly body?: boolean };
    };

/** The response to a deletion of a vault. */
export interface DeletedVault {
  readonly type: 'vault_deleted';
  readonly id: string;
}

/** The response to a deletion of a credential. */
export interface DeletedVaultCredential {
  readonly type: 'vault_credential_deleted';
  readonly id: string;
}

/** The result of checking whether an MCP server accepts a credential. */
export interface VaultCredentialValidation {
  readonly type: 'vault_credential_validation';
  readonly credential_id: string;
  readonly vault_id: string;
  readonly status: 'valid' | 'invalid' | 'unknown';
  readonly has_refresh_token: boolean;
  /** The step that failed; null if none did. */
  readonly mcp_probe: { readonly method: string; readonly http_response: CapturedResponse | null } | null;
  /** The refresh that was attempted after a 401. */
  readonly refresh: {
    readonly status: 'succeeded' | 'failed' | 'connect_error' | 'no_refresh_token';
    readonly http_response: CapturedResponse | null;
  } | null;
  readonly validated_at: string;
}

/** A response of another server, without known secrets. */
export interface CapturedResponse {
  readonly status_code: number;
  readonly content_type: string;
  readonly body: string;
  readonly body_truncated: boolean;
}
