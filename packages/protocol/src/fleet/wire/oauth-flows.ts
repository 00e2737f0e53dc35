/** `POST /v1/vaults/{vault}/oauth_flows`: an MCP server is being connected. Times are ISO 8601. */
export interface FleetOAuthFlowStarted {
  readonly type: 'oauth_flow_started';
  readonly id: string;
  /** The page on which the user consents, in a browser. */
  readonly authorization_url: string;
  readonly expires_at: string;
}

/** `GET /v1/vaults/{vault}/oauth_flows/{id}`: the state of a flow. */
export type FleetOAuthFlow = {
  readonly type: 'oauth_flow';
  readonly id: string;
  readonly vault_id: string;
  readonly mcp_server_url: string;
  readonly expires_at: string;
} & (
  | { readonly status: 'pending' }
  | { readonly status: 'completed'; readonly credential_id: string }
  | { readonly status: 'failed'; readonly error: FleetOAuthFlowError }
);

/** Why no credential was stored. */
export interface FleetOAuthFlowError {
  readonly type:
    | 'authorization_refused'
    | 'issuer_mismatch'
    | 'state_mismatch'
    | 'token_request_failed'
    | 'credential_not_stored'
    | 'expired';
  readonly message: string;
}
