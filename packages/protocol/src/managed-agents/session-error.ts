/** What went wrong inside a session, as `session.error` says it. `message` and `retry_status` are enough to act on. */
export type SessionError = PlainError | McpError | CredentialError | RepositoryError;

interface Failed {
  readonly message: string;
  readonly retry_status: RetryStatus;
}

/** `retrying`: we go on. `exhausted`: the turn is lost, and what was queued with it. `terminal`: the session is. */
export type RetryStatus =
  | { readonly type: 'retrying' }
  | { readonly type: 'exhausted' }
  | { readonly type: 'terminal' };

/** One form for each type, as the wire has it. */
type OneOf<Type extends string, Fields> = { readonly [Each in Type]: Fields & { readonly type: Each } }[Type];

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

export type McpError = OneOf<
  'mcp_connection_failed_error' | 'mcp_authentication_failed_error',
  Failed & { readonly mcp_server_name: string }
>;

export type CredentialError = OneOf<
  'credential_host_unreachable_error',
  Failed & { readonly credential_id: string; readonly vault_id: string }
>;

export type RepositoryError = OneOf<
  | 'repository_authentication_error'
  | 'repository_forbidden_error'
  | 'repository_not_found_error'
  | 'repository_checkout_error'
  | 'repository_clone_error',
  Failed & { readonly repository_url: string | null }
>;
