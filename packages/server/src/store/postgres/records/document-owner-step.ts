/** Vaults are listed by their workspace, credentials by their vault. The step of the migration that derives the owner. */
export const DOCUMENT_OWNER_STEP = `
  ALTER TABLE ~documents DROP COLUMN workspace_id, ADD COLUMN workspace_id text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN
    kind = 'vault_credential' THEN data ->> 'vaultId' WHEN kind IN ('file', 'login', 'vault') THEN data ->> 'workspaceId' END) STORED;
  CREATE INDEX documents_by_workspace ON ~documents (kind, workspace_id, id) WHERE workspace_id IS NOT NULL`;
