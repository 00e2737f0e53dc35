import type { Duplex } from 'node:stream';

/**
 * What a session lets its program reach beside the model: both give the addresses to connect to, and throw an error for
 * people where it may not. The environment of the session and the operator decide.
 */
export interface ProgramNetwork {
  /** An MCP server of its agents. */
  findMcpServer(url: URL, signal?: AbortSignal): Promise<readonly string[]>;
  /**
   * Opens a connection that a program has asked for with `CONNECT`, or refuses it, instead of `findHost`: what passes is checked and
   * logged. Never throws.
   */
  openTunnel?(request: { readonly url?: string | undefined }, near: Duplex, head: Buffer): void;
  /** Ends the connections of `openTunnel`. */
  close?(): void;
  /** Any other host, by `https://host:port`. */
  findHost(url: URL, signal?: AbortSignal): Promise<readonly string[]>;
}
