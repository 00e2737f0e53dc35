import { rename, rm, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Store } from '../../store/store.ts';
import type { Git } from '../git/run-git.ts';
import { FORK_FILE } from './copy-repository.ts';
import { snapshotLimits } from './objects/limits.ts';
import { SnapshotRepository } from './objects/snapshot-repository.ts';

/**
 * The last recorded files of sessions with clones, in the store that all nodes share. If the node of a session is lost, its
 * repositories are cloned again on another node, and these files are written to them.
 */
export interface SnapshotBackups {
  /** Stores the objects that the last backup does not have. A failure is reported, and the next backup stores them too. */
  save(repository: SnapshotRepository, sessionId: string, tree: string): Promise<void>;
  /** Creates the snapshot repository of a session from its backup. Does nothing without a backup, or if the repository exists. */
  restore(git: Git, sessionId: string, path: string): Promise<void>;
  remove(sessionId: string): Promise<void>;
}

/** The dependencies of backups. */
export interface SnapshotBackupsOptions {
  readonly store: Pick<Store, 'documents' | 'blobs'>;
  readonly onProblem: (problem: unknown) => void;
}

/** The kind of the documents that name the packs of each session. */
export const SNAPSHOT_BACKUP = 'snapshot_backup';

/** Creates the backups of a store. */
export function createSnapshotBackups({ store, onProblem }: SnapshotBackupsOptions): SnapshotBackups {
  const { documents, blobs } = store;
  const read = async (sessionId: string) => {
    const found = await documents.get(SNAPSHOT_BACKUP, sessionId);
    // The cast is safe because only this module writes these documents.
    return found?.data as unknown as Backup | undefined;
  };
  const removePacks = async (sessionId: string, { first, next }: Backup) => {
    for (let pack = first; pack < next; pack++) await blobs.delete(blobOf(sessionId, pack));
  };

  return {
    save: async (repository, sessionId, tree) => {
      try {
        const before = await read(sessionId);
        if (before?.tree === tree) return;
        const isWhole = before === undefined || before.next - before.first >= snapshotLimits.backupPacksMax;
        const input = isWhole ? `${tree}\n` : `${tree}\n^${before.tree}\n`;
        const outputBytesMax = snapshotLimits.backupBytesMax;
        const pack = await repository.run(['pack-objects', '-q', '--stdout', '--revs'], { input, outputBytesMax });
        const at = before?.next ?? 0;
        await blobs.write(blobOf(sessionId, at), Readable.from([pack.stdout]));
        const data = { tree, first: isWhole ? at : before.first, next: at + 1 };
        await documents.put({ kind: SNAPSHOT_BACKUP, id: sessionId, data });
        if (isWhole && before !== undefined) await removePacks(sessionId, before);
      } catch (error) {
        onProblem(error);
      }
    },
    restore: async (git, sessionId, path) => {
      const backup = await read(sessionId);
      if (backup === undefined || (await SnapshotRepository.open(git, path)) !== undefined) return;
      const draft = `${path}.restored`;
      await rm(draft, { recursive: true, force: true });
      const repository = await SnapshotRepository.create(git, draft, { format: 'sha1', alternates: [] });
      for (let pack = backup.first; pack < backup.next; pack++) {
        const input = await buffer(Readable.from(blobs.read(blobOf(sessionId, pack))));
        await repository.run(['index-pack', '--stdin', '--strict'], { input });
      }
      await writeFile(repository.file(FORK_FILE), `${backup.tree}\n`, { mode: 0o600 });
      await rename(draft, path);
    },
    remove: async (sessionId) => {
      const backup = await read(sessionId);
      if (backup === undefined) return;
      await documents.delete(SNAPSHOT_BACKUP, sessionId);
      await removePacks(sessionId, backup);
    },
  };
}

interface Backup {
  readonly tree: string;
  /** The packs of the backup have the numbers from `first` up to, but not including, `next`. */
  readonly first: number;
  readonly next: number;
}

function blobOf(sessionId: string, pack: number): string {
  return `snapshot_${sessionId}_${pack}`;
}
