/**
 * What a session lets its program reach beside the model: both give the addresses to connect to, and throw an error for
 * people where it may not. The environment of the session and the operator decide.
 */
export interface ProgramNetwork {
  /** An MCP server of its agents. */
  findMcpServer(url: URL, signal?: AbortSignal): Promise<readonly string[]>;
  /** Any other host, by `https://host:port`. */
  findHost(url: URL, signal?: AbortSignal): Promise<readonly string[]>;
}
