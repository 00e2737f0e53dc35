import type { DocumentRecord } from './records.ts';

/** What `listOfWorkspace` finds a document by. The databases derive the same from its data. */
export function ownerOfDocument({ kind, data }: Pick<DocumentRecord, 'kind' | 'data'>): unknown {
  if (kind === 'vault_credential') return data['vaultId'];
  return kind === 'file' || kind === 'login' || kind === 'vault' ? data['workspaceId'] : undefined;
}
