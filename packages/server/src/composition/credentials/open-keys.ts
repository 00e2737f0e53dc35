import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createKeyDocuments } from '../../keys/key-storage.ts';
import { type KeyStore, openKeyStore } from '../../keys/key-store.ts';
import type { DatabaseTls } from '../../store/postgres/database-tls.ts';
import type { Auditor, NewAuditEntry } from '../../store/audit.ts';
import { writeToOutbox } from '../audit/audit-outbox.ts';
import { openDatabase } from '../open-database.ts';

/** The location of the keys. */
export interface OpenKeysOptions {
  readonly dataDirectory: string;
  /** The PostgreSQL database that several servers share; without it keys are in the data directory. */
  readonly database?: string | undefined;
  readonly databaseTls?: DatabaseTls | undefined;
}

/** Opens the keys of a server, running or not: a running server applies changes within a second. */
export async function openKeys({
  dataDirectory,
  database: url,
  databaseTls: tls,
}: OpenKeysOptions): Promise<{ readonly keys: KeyStore; readonly close: () => Promise<void> }> {
  const store = url === undefined ? undefined : await openDatabase({ url, tls });
  const location =
    store === undefined
      ? {
          directory: join(dataDirectory, 'keys'),
          record: (entry: NewAuditEntry) => writeToOutbox(dataDirectory, entry),
        }
      : { storage: createKeyDocuments(store) };
  const { keys, firstSecret } = await openKeyStore({ ...location, auditorOf: toLocalAuditor });
  // The start of a server shows the first key. A first key that was created here would never be shown, so it is revoked.
  // Only this key: a server or another command may have created keys since.
  const first = firstSecret === undefined ? undefined : await keys.find(firstSecret);
  if (first !== undefined) await keys.revoke(first.id);
  return { keys, close: async () => await store?.close() };
}

/** The auditor of changes by a local command with access to the files or the database. The server may append the entries later. */
function toLocalAuditor(workspaceId: string): Auditor {
  const by = { type: 'command', user: findUser() };
  return (action, target, details) => {
    const requested = new Date().toISOString();
    return { workspaceId, data: { action, by, requested_at: requested, target, details } };
  };
}

/** The name of the user of this process, or the number: in containers, users often have no name. */
function findUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
