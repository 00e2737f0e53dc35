import { HeldPaths, type Found } from './held-path.ts';
import { snapshotLimits } from './objects/limits.ts';
import type { NotRecorded } from './not-recorded.ts';
import { toObjectId } from './objects/object-format.ts';
import type { BytePath } from './objects/path-text.ts';
import { isRecordable } from './objects/recordable-path.ts';
import type { NewObject, ObjectRepository } from './objects/object-repository.ts';
import type { FileMode, TreeItem } from './objects/tree-objects.ts';

/** The paths to read, each with its last recorded item; undefined if it was not recorded. */
export type KnownItems = ReadonlyMap<BytePath, { readonly mode: string; readonly object: string } | undefined>;

/** The result of reading the paths. */
export interface RecordedFiles {
  /** The paths that differ from their last recorded item; null if the file was removed. */
  readonly changes: ReadonlyMap<BytePath, TreeItem | null>;
  /** The paths whose files are unchanged. */
  readonly unchanged: readonly BytePath[];
  /** Files that were changed so shortly before they were read that another change may leave the same state. They have to be read again. */
  readonly recent: ReadonlyMap<BytePath, TreeItem>;
  readonly notRecorded: readonly NotRecorded[];
}

/** The limits of a record, which tests lower. */
export interface RecordLimits {
  readonly fileBytesMax: number;
  readonly recordBytesMax: number;
}

/** Reads files below a directory and stores their content. */
export async function recordFiles(
  repository: ObjectRepository,
  directory: string,
  known: KnownItems,
  limits: RecordLimits = { ...snapshotLimits, fileBytesMax: repository.fileBytesMax },
): Promise<RecordedFiles> {
  const batch = new Batch(repository);
  const changes = new Map<BytePath, TreeItem | null>();
  const unchanged: BytePath[] = [];
  const recent = new Map<BytePath, TreeItem>();
  const notRecorded: NotRecorded[] = [];
  const held = new HeldPaths(directory);
  let bytes = 0;
  try {
    // Sorted, so that each directory is opened once.
    for (const path of [...known.keys()].sort()) {
      const before = known.get(path);
      const found = isRecordable(path)
        ? await held.read(path, limits.fileBytesMax)
        : ({ type: 'unsupported' } as const);
      if (found.type === 'file' || found.type === 'link') {
        const mode: FileMode = found.type === 'link' ? '120000' : found.isExecutable ? '100755' : '100644';
        const item = { mode, object: toObjectId(repository.format, 'blob', found.content) };
        const isSame = before?.mode === mode && before.object === item.object;
        if (isSame) unchanged.push(path);
        else if (!isRecordable(path, mode)) notRecorded.push({ path, reason: 'unsupported' });
        else if (bytes + found.content.length > limits.recordBytesMax) notRecorded.push({ path, reason: 'too_much' });
        else {
          bytes += found.content.length;
          changes.set(path, item);
          if (before?.object !== item.object) await batch.add({ type: 'blob', content: found.content });
        }
        const isIn = isSame || changes.has(path);
        if (isIn && Date.now() - found.changedAt < RECENT_MS) recent.set(path, item);
        continue;
      }
      if (found.type !== 'missing' && found.type !== 'directory') notRecorded.push(toNotRecorded(path, found));
      // A file that exists but cannot be recorded keeps its last recorded content, so that applying does not delete it.
      if (before !== undefined && GONE.has(found.type)) changes.set(path, null);
    }
    await batch.flush();
  } finally {
    await held.close();
  }
  return { changes, unchanged, recent, notRecorded };
}

/**
 * Git compares times in seconds. A file that is changed twice within a second, to the same size and with its old modification time
 * restored, looks unchanged. The limit has a margin for file system clocks that lag.
 */
const RECENT_MS = 2_500;

const GONE = new Set<string>(['missing', 'directory', 'special']);

function toNotRecorded(path: BytePath, found: Found | { readonly type: 'unsupported' }): NotRecorded {
  if (found.type === 'too_large') {
    return { path, reason: 'too_large', stamp: `${found.stats.size} ${found.stats.mtimeNs}` };
  }
  if (found.type === 'special' || found.type === 'unreadable') return { path, reason: found.type };
  return { path, reason: 'unsupported' };
}

/** Collects objects and writes them to the repository in batches. */
class Batch {
  readonly #repository: ObjectRepository;
  #objects: NewObject[] = [];
  #bytes = 0;

  constructor(repository: ObjectRepository) {
    this.#repository = repository;
  }

  async add(object: NewObject): Promise<void> {
    this.#objects.push(object);
    this.#bytes += object.content.length;
    if (this.#bytes >= snapshotLimits.batchBytesMax) await this.flush();
  }

  async flush(): Promise<void> {
    const objects = this.#objects;
    [this.#objects, this.#bytes] = [[], 0];
    if (objects.length > 0) await this.#repository.write(objects);
  }
}
