import { randomUUID } from 'node:crypto';
import { DirectoryRecorder } from './directory-recorder.ts';
import { EXCLUDE_FILE } from './exclude-file.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';

/** Options of a record of a directory. */
export interface RecordDirectoryOptions {
  /** A tree that resembles the directory: files that are equal in it are not stored again. */
  readonly base?: string | undefined;
}

/** Records a directory as a tree, with the ignore rules of the session. */
export async function recordDirectory(
  repository: SnapshotRepository,
  directory: string,
  { base = repository.emptyTree }: RecordDirectoryOptions = {},
): Promise<string> {
  const indexFile = repository.file(`scratch-${randomUUID()}`);
  const recorder = new DirectoryRecorder({
    repository,
    directory,
    indexFile,
    excludeFile: repository.file(EXCLUDE_FILE),
  });
  try {
    await recorder.begin(base, { isNew: true });
    return (await recorder.recordAll(base)).tree;
  } finally {
    await recorder.close();
  }
}
