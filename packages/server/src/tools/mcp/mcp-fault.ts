/**
 * `unreachable`: there is no connection. `not_public`: a connection is not allowed. `late`: no response in time. `limit`: more than
 * is read. `broken`: the response does not follow the protocol.
 */
export type McpFaultKind = 'unreachable' | 'not_public' | 'late' | 'limit' | 'broken';

/**
 * Why an MCP server cannot be used. The message never contains anything that the server sent: a caller that names a server
 * could otherwise read what only this machine can reach.
 */
export class McpFault extends Error {
  override readonly name = 'McpFault';
  readonly kind: McpFaultKind;
  /** Whether the server may have received the request. */
  readonly wasSent: boolean;

  constructor(kind: McpFaultKind, message: string, options: ErrorOptions & { wasSent?: boolean } = {}) {
    super(message, options);
    this.kind = kind;
    this.wasSent = options.wasSent ?? true;
  }
}
