/**
 * `unreachable`: there is no connection. `not_public`: there must not be one. `late`: no answer in time. `limit`: more than
 * is read. `broken`: what came is not an answer of the protocol.
 */
export type McpFaultKind = 'unreachable' | 'not_public' | 'late' | 'limit' | 'broken';

/**
 * Why an MCP server cannot be used. The message never holds anything that the server sent: the caller who names a server
 * could otherwise read what only this machine can reach.
 */
export class McpFault extends Error {
  override readonly name = 'McpFault';
  readonly kind: McpFaultKind;
  /** Whether the server may have got the request. */
  readonly wasSent: boolean;

  constructor(kind: McpFaultKind, message: string, options: ErrorOptions & { wasSent?: boolean } = {}) {
    super(message, options);
    this.kind = kind;
    this.wasSent = options.wasSent ?? true;
  }
}
