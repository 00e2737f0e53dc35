/** The credentials of one session for its MCP servers. */
export interface McpAuthorization {
  /**
   * The `authorization` header of a request to a server, or undefined if the session has no credential for it. It is read again for
   * each request. `rejected`: the header of a request that the server has answered with 401; the result is another one, or undefined.
   */
  find(url: string, rejected?: string): Promise<string | undefined>;
  /** Changes whenever there is another credential for the server, or the same one was updated. */
  version(url: string): Promise<string>;
}
