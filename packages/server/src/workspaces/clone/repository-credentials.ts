/** Tokens of git hosts that are credentials of vaults. */
export interface RepositoryCredentials {
  /** Throws a request error unless a credential of the workspace can be used at this URL. */
  check(workspaceId: string, credentialId: string, url: string): Promise<void>;
  /** The token as it is now. Undefined if the credential was archived or deleted, or does not allow the host any more. */
  read(sessionId: string, credentialId: string, url: string): Promise<string | undefined>;
}
