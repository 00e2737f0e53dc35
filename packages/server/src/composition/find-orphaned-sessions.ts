import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetloomError } from '../base/errors.ts';
import { storeLimits } from '../store/limits.ts';
import { writePrivateFile } from '../keys/write-private-file.ts';
import type { Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';

/** The directories with files of sessions, and the minimum age of an orphan. */
export interface OrphanedSessionsOptions {
  readonly store: Pick<Store, 'documents' | 'heads'>;
  /** The file that records which database the files belong to. */
  readonly mark: string;
  /** Directories whose entries are named by session ids. */
  readonly directories: readonly string[];
  /** The minimum age of an orphan: other nodes may be about to create its session. */
  readonly ageMs: number;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Finds sessions that have files on this disk and are not in the database: they were deleted while the files could not be removed,
 * or a crash came before they were created. Files of another database are ignored, since its sessions are not known here.
 */
export async function findOrphanedSessions(options: OrphanedSessionsOptions): Promise<readonly string[]> {
  const { store, directories, ageMs } = options;
  if (!(await isOfThisDatabase(options))) return [];
  const ids = new Set((await Promise.all(directories.map((directory) => listSessions(directory, ageMs)))).flat());
  const gone: string[] = [];
  for (let rest = [...ids]; rest.length > 0; rest = rest.slice(storeLimits.pageItemsMax)) {
    const some = rest.slice(0, storeLimits.pageItemsMax);
    const heads = await store.heads(some);
    gone.push(...some.filter((id) => !heads.has(id)));
  }
  return gone;
}

/** Files without a mark count as files of this database: the mark is written, and nothing is removed at this start. */
async function isOfThisDatabase({ store, mark, onProblem }: OrphanedSessionsOptions): Promise<boolean> {
  const id = await openIdentity(store);
  const known = await readFile(mark, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (known?.trim() === id) return true;
  // An empty mark: a crash came before it was written.
  if ((known ?? '').trim() === '') {
    await rm(mark, { force: true });
    await writePrivateFile(mark, `${id}\n`).catch((error: NodeJS.ErrnoException) => {
      // Another node has written the mark first.
      if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error;
    });
    return false;
  }
  onProblem(
    new FleetloomError({
      code: 'files_of_another_database',
      kind: 'caller',
      problem: `the files beside ${mark} belong to another database, so those of deleted sessions stay`,
      advice: 'use another data directory, or remove this file if the database is the right one',
    }),
  );
  return false;
}

async function openIdentity({ documents }: Pick<Store, 'documents'>): Promise<string> {
  const known = await documents.get(KIND, ID);
  // Only this function writes this document.
  if (known !== undefined) return known.data['id'] as string;
  const id = randomUUID();
  try {
    await documents.put({ kind: KIND, id: ID, data: { id }, ifRevision: 0 });
    return id;
  } catch (error) {
    if (isStoreError(error, 'version_conflict')) return await openIdentity({ documents });
    throw error;
  }
}

async function listSessions(directory: string, ageMs: number): Promise<string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const found = names.flatMap((name) => {
    const id = /^(sesn_\w+)(\.json)?(\.draft|\.threads)?$/.exec(name)?.[1];
    return id === undefined ? [] : [{ id, path: join(directory, name) }];
  });
  if (ageMs === 0) return found.map(({ id }) => id);
  const isOld = async ({ path }: { readonly path: string }) => Date.now() - (await stat(path)).mtimeMs > ageMs;
  const old = await Promise.all(found.map((each) => isOld(each).catch(() => false)));
  return found.filter((_, index) => old[index]).map(({ id }) => id);
}

const KIND = 'store';
const ID = 'identity';
