import type { Store } from '../store/store.ts';
import { mayReceive } from './may-receive.ts';
import type { RecordUse } from './mcp-authorizations.ts';
import type { SecretBox } from './secret-box.ts';
import { CREDENTIAL, type Stored, type StoredCredential, type StoredVault, toStored, VAULT } from './stored.ts';
import { invalidField, vaultError } from './vault-errors.ts';

/** The dependencies of `createRepositoryCredentials`. */
export interface RepositoryCredentialsOptions {
  readonly store: {
    readonly documents: Store['documents'];
    readonly sessions: Pick<Store['sessions'], 'findWorkspace'>;
  };
  readonly secrets: Pick<SecretBox, 'read'>;
  /** Records the use of a secret by a session. */
  readonly usesOf: (sessionId: string) => RecordUse;
}

/**
 * Credentials of the kind `environment_variable` as tokens of git hosts, read again for each request. Credentials of other kinds belong to
 * MCP servers and are not sent to other hosts.
 */
export function createRepositoryCredentials({ store, secrets, usesOf }: RepositoryCredentialsOptions) {
  return {
    check: async (workspaceId: string, credentialId: string, url: string): Promise<void> => {
      const found = await find(workspaceId, credentialId);
      if (found === undefined)
        throw vaultError('credential_not_found', `credential_id: ${credentialId} does not exist`);
      const { auth, archivedAt } = found.data;
      if (archivedAt !== null) throw vaultError('credential_archived', `credential_id: ${credentialId} is archived`);
      if (auth.type !== 'environment_variable') {
        const problem = `${credentialId} is a ${auth.type}, which is for an MCP server`;
        throw invalidField('credential_id', problem, 'use a credential of the kind environment_variable');
      }
      const { hostname } = new URL(url);
      if (!mayReceive(auth.networking, hostname)) {
        const problem = `${credentialId} may not be sent to ${hostname}`;
        throw invalidField('credential_id', problem, 'add the host to allowed_hosts of the credential');
      }
    },
    read: async (sessionId: string, credentialId: string, url: string): Promise<string | undefined> => {
      const workspaceId = await store.sessions.findWorkspace(sessionId);
      const found = workspaceId === undefined ? undefined : await find(workspaceId, credentialId);
      if (found === undefined || found.data.archivedAt !== null) return undefined;
      const { auth, vaultId } = found.data;
      const { host, hostname } = new URL(url);
      if (auth.type !== 'environment_variable' || !mayReceive(auth.networking, hostname)) return undefined;
      const path = { workspaceId: found.data.workspaceId, vaultId, id: credentialId };
      const secret = (await secrets.read(path))?.secrets.secret_value;
      if (secret !== undefined) await usesOf(sessionId)(path, host);
      return secret;
    },
  };

  /** Undefined for a credential of another workspace. Archived vaults need no check here, because their credentials are archived too. */
  async function find(workspaceId: string, credentialId: string): Promise<Stored<StoredCredential> | undefined> {
    const document = await store.documents.get(CREDENTIAL, credentialId);
    const credential = document && toStored<StoredCredential>(document);
    if (credential?.data.workspaceId !== workspaceId) return undefined;
    const vault = await store.documents.get(VAULT, credential.data.vaultId);
    return vault === undefined || toStored<StoredVault>(vault).data.workspaceId !== workspaceId
      ? undefined
      : credential;
  }
}
