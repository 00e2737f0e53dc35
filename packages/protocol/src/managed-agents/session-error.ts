/** The error of a `session.error` event. `message` and `retry_status` are enough to act on. */
export type SessionError = PlainError | McpError | CredentialError | RepositoryError;

interface Failed {
  readonly message: string;
  readonly retry_status: RetryStatus;
}

/** `retrying`: the request is retried. `exhausted`: the turn is lost, with the messages queued for it. `terminal`: the session is lost. */
export type RetryStatus =
  | { readonly type: 'retrying' }
  | { readonly type: 'exhausted' }
  | { readonly type: 'terminal' };

/** One variant for each type, as on the wire. */
type OneOf<Type extends string, Fields> = { readonly [Each in Type]: Fields & { readonly type: Each } }[Type];

/** An error without further fields. */
export type PlainError = OneOf<
  | 'unknown_error'
  | 'model_overloaded_error'
  | 'model_rate_limited_error'
  | 'model_request_failed_error'
  | 'billing_error'
  | 'tool_use_limit_reached_error'
  | 'compaction_limit_reached_error',
  Failed
>;

/** An MCP server failed. */
export type McpError = OneOf<
  'mcp_connection_failed_error' | 'mcp_authentication_failed_error',
  Failed & { readonly mcp_server_name: string }
>;

/** A credential of a vault failed. */
export type CredentialError = OneOf<
  'credential_host_unreachable_error',
  Failed & { readonly credential_id: string; readonly vault_id: string }
>;

/** A repository could not be cloned. */
export type RepositoryError = OneOf<
  | 'repository_authentication_error'
  | 'repository_forbidden_error'
  | 'repository_not_found_error'
  | 'repository_checkout_error'
  | 'repository_clone_error',
  Failed & { readonly repository_url: string | null }
>;
