import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createKeyDocuments } from '../../keys/key-storage.ts';
import { type KeyStore, openKeyStore } from '../../keys/key-store.ts';
import type { DatabaseTls } from '../../store/postgres/database-tls.ts';
import type { Auditor, NewAuditEntry } from '../../store/audit.ts';
import { writeToOutbox } from '../audit/audit-outbox.ts';
import { openDatabase } from '../open-database.ts';

/** Where the keys are stored. */
export interface OpenKeysOptions {
  readonly dataDirectory: string;
  /** The PostgreSQL database that several servers share; without it keys are in the data directory. */
  readonly database?: string | undefined;
  readonly databaseTls?: DatabaseTls | undefined;
}

/** The keys of a server, whether it runs or not: what is changed here counts there within a second. */
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
  // The first key is shown by the start of a server. One that was created here would never be shown, so it is revoked.
  // Only that one: a server or another command may have created keys since.
  const first = firstSecret === undefined ? undefined : await keys.find(firstSecret);
  if (first !== undefined) await keys.revoke(first.id);
  return { keys, close: async () => await store?.close() };
}

/** The auditor of changes by a local command, or by one with access to the database. The server may append the entries later. */
function toLocalAuditor(workspaceId: string): Auditor {
  const by = { type: 'command', user: findUser() };
  return (action, target, details) => {
    const requested = new Date().toISOString();
    return { workspaceId, data: { action, by, requested_at: requested, target, details } };
  };
}

/** The name of the user, or the number: in containers, users often have no name. */
function findUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
