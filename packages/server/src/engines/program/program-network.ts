import type { Duplex } from 'node:stream';

/**
 * The network that a session's program may reach beside the model. `findMcpServer` and `findHost` return the addresses to connect to, and throw an
 * error for people if the connection is not allowed. The environment of the session and the operator decide.
 */
export interface ProgramNetwork {
  /** The addresses of an MCP server of the session's agents. */
  findMcpServer(url: URL, signal?: AbortSignal): Promise<readonly string[]>;
  /**
   * Opens or rejects a connection that a program has requested with `CONNECT`, in place of `findHost`: its traffic is checked and
   * logged. Never throws.
   */
  openTunnel?(request: { readonly url?: string | undefined }, near: Duplex, head: Buffer): void;
  /** Ends the connections of `openTunnel`. */
  close?(): void;
  /** The addresses of any other host, by `https://host:port`. */
  findHost(url: URL, signal?: AbortSignal): Promise<readonly string[]>;
}
