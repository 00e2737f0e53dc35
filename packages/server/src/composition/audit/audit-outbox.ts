import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { makePrivateDirectory } from '../../base/files/private-files.ts';
import { writePrivateFile } from '../../keys/write-private-file.ts';
import type { NewAuditEntry } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';

/** The directory in which commands on a data directory leave audit log entries: only the server has its database open. */
export const AUDIT_OUTBOX = 'audit-outbox';

/** Stores an entry for the server of a data directory, which may not be running. The entry is on the disk when this resolves. */
export async function writeToOutbox(dataDirectory: string, entry: NewAuditEntry): Promise<void> {
  const directory = join(dataDirectory, AUDIT_OUTBOX);
  await makePrivateDirectory(directory);
  const name = `${Date.now().toString().padStart(15, '0')}-${randomBytes(8).toString('hex')}`;
  const draft = join(directory, `${name}.draft`);
  await writePrivateFile(draft, JSON.stringify(entry));
  await rename(draft, join(directory, `${name}.json`));
}

/**
 * Creates a reader that moves entries of commands into the audit log, each once, also when the process is killed in
 * between. A file that cannot be read is reported once and stays: commands may run as another user than the server.
 */
export function createOutboxReader(
  dataDirectory: string,
  { documents }: Pick<Store, 'documents'>,
  onProblem: (problem: unknown) => void,
): () => Promise<void> {
  const directory = join(dataDirectory, AUDIT_OUTBOX);
  const reported = new Set<string>();
  return async () => {
    const names = (await listNames()).filter((name) => name.endsWith('.json'));
    for (const name of names.toSorted()) await take(name, join(directory, name));
  };

  async function listNames(): Promise<readonly string[]> {
    try {
      return await readdir(directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') reportOnce(directory, error);
      return [];
    }
  }

  async function take(name: string, file: string): Promise<void> {
    let entry: NewAuditEntry | undefined;
    try {
      entry = await readEntry(file);
    } catch (error) {
      return reportOnce(file, error);
    }
    if (entry === undefined) {
      await rename(file, `${file}.broken`);
      onProblem(new Error(`${file} is not an entry of the audit log: it was renamed to ${name}.broken`));
      return;
    }
    await documents.put({ kind: TAKEN, id: name, data: {}, ifRevision: 0 }, entry).catch((error: unknown) => {
      // The entry was appended before the process was killed.
      if (!isStoreError(error, 'version_conflict')) throw error;
    });
    await rm(file, { force: true });
    await documents.delete(TAKEN, name);
  }

  function reportOnce(path: string, cause: unknown): void {
    if (reported.has(path)) return;
    reported.add(path);
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const advice = 'change its owner to the user that the server runs as, and run "fleetloom keys" as that user';
    onProblem(new Error(`${path} is not in the audit log yet: it cannot be read (${code}); ${advice}`, { cause }));
  }
}

async function readEntry(file: string): Promise<NewAuditEntry | undefined> {
  try {
    return entryFile.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}

const entryFile = z.strictObject({ workspaceId: z.string().min(1), data: z.record(z.string(), z.json()) });
const TAKEN = 'audit_taken';
