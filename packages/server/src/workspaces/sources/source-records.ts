import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from '../../tools/workspace/directory.ts';
import type { DirectorySource, SetupResult } from '../workspace-source.ts';

/** The record of the workspace on this disk of a session with a source. */
export interface SourceRecord {
  /** `creating`: the workspace is being created, or a crash has left an incomplete one. */
  readonly state: 'creating' | 'ready';
  readonly source: DirectorySource;
  /** The result of the setup command; null if there is none, or it has not run yet. */
  readonly setup: SetupResult | null;
}

/** The records of this disk, one file for each session. A record is written before any other file, and removed last. */
export interface SourceRecords {
  read(sessionId: string): Promise<SourceRecord | undefined>;
  write(sessionId: string, record: SourceRecord): Promise<void>;
  remove(sessionId: string): Promise<void>;
  list(): Promise<readonly string[]>;
}

/** The name of the directory of the records. */
export const RECORDS = 'workspace-sources';

/** The file with the record of a session. */
export function toRecordFile(directory: string, sessionId: string): string {
  return join(directory, `${sessionId}.json`);
}

/** Stores records in a directory. */
export function createSourceRecords(directory: string): SourceRecords {
  const fileOf = (sessionId: string) => toRecordFile(directory, sessionId);
  return {
    read: async (sessionId) => {
      try {
        // Only this process writes here, so the content is trusted.
        return JSON.parse(await readFile(fileOf(sessionId), 'utf8')) as SourceRecord;
      } catch (error) {
        if (isCode(error, 'ENOENT')) return undefined;
        throw error;
      }
    },
    write: async (sessionId, record) => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const draft = `${fileOf(sessionId)}.draft`;
      const handle = await open(draft, 'w', 0o600);
      try {
        await handle.writeFile(JSON.stringify(record));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, fileOf(sessionId));
    },
    remove: (sessionId) => rm(fileOf(sessionId), { force: true }),
    list: async () => {
      const names = await readdir(directory).catch((error: unknown) => {
        if (isCode(error, 'ENOENT', 'ENOTDIR')) return [];
        throw error;
      });
      return names.flatMap((name) => /^(sesn_\w+)\.json$/.exec(name)?.[1] ?? []);
    },
  };
}
