/** Credentials of vaults that are used as tokens of git hosts. */
export interface RepositoryCredentials {
  /** Throws a request error unless a credential of the workspace can be used at this URL. */
  check(workspaceId: string, credentialId: string, url: string): Promise<void>;
  /** The current token. Undefined if the credential was archived or deleted, or does not allow the host any more. */
  read(sessionId: string, credentialId: string, url: string): Promise<string | undefined>;
}
