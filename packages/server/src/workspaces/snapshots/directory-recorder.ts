import { lstat, opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitOutput } from '../git/run-git.ts';
import { type Candidates, findCandidates, findIgnored, findSubmodules, type ScanPlace } from './find-candidates.ts';
import { toPath } from './held-path.ts';
import type { NotRecorded } from './not-recorded.ts';
import { snapshotLimits } from './objects/limits.ts';
import { type BytePath, toPathBytes } from './objects/path-text.ts';
import { type KnownItems, recordFiles, type RecordedFiles, type RecordLimits } from './record-files.ts';
import { emptyTree } from './objects/object-format.ts';
import type { TreeItem } from './objects/tree-objects.ts';

/** A recorded tree. */
export interface Recorded {
  readonly tree: string;
  readonly notRecorded: readonly NotRecorded[];
}

/**
 * Records the files of a directory as trees. A git index stores the file system state of each recorded file, so
 * that only changed files are read again. The content of the index is never recorded: trees are built from the previous tree and
 * the changed files, and the index is updated afterwards, when no caller waits.
 */
export class DirectoryRecorder {
  readonly #place: ScanPlace;
  readonly #limits: RecordLimits | undefined;
  /** Changes that are not in the index yet. Each record reads these files. */
  readonly #pending = new Map<BytePath, TreeItem | null>();
  /** Files whose state is not in the index yet: the next record reads them again. */
  readonly #unsettled = new Set<BytePath>();
  /** Files that have to be read again, because the index may not detect another change of them. */
  readonly #recent = new Map<BytePath, TreeItem>();
  #submodules: readonly BytePath[] = [];
  /** When a new index was created without earlier file states; undefined once all files were compared again. */
  #madeAt: number | undefined;
  #settling: Promise<void> = Promise.resolve();

  constructor(place: ScanPlace, limits?: RecordLimits) {
    this.#place = place;
    this.#limits = limits;
  }

  /** Sets the index to a tree. Files whose state is in the index already are not read again. */
  async begin(tree: string, { isNew }: { readonly isNew: boolean }): Promise<void> {
    const { repository } = this.#place;
    const args = tree === emptyTree(repository.format) ? ['read-tree', '--empty'] : ['read-tree', '--reset', tree];
    await this.#git(args);
    // Reads and compares every file once. The attributes disable conversions, so git compares exact contents.
    if (isNew) {
      this.#madeAt = Date.now();
      await this.#git(['update-index', '-q', '--refresh'], undefined, SOME_DIFFER);
    }
    this.#submodules = await findSubmodules(this.#place);
  }

  /** Records the whole directory. */
  async recordAll(parent: string): Promise<Recorded> {
    await this.#settling;
    await this.#flush();
    const candidates = await findCandidates(this.#place);
    const files = await this.#record(toKnown(candidates, [this.#recent, this.#pending], this.#submodules));
    const submodules = await this.#findFilledSubmodules();
    const tree = await this.#apply(parent, files);
    this.#settle();
    return { tree, notRecorded: [...candidates.notRecorded, ...files.notRecorded, ...submodules] };
  }

  /** Records only these files. All other files stay as recorded last. */
  async recordPaths(parent: string, paths: readonly BytePath[]): Promise<Recorded> {
    await this.#settling;
    const isInSubmodule = (path: BytePath) => this.#submodules.some((submodule) => path.startsWith(`${submodule}/`));
    const inside = paths.filter(isInSubmodule).map((path): NotRecorded => ({ path, reason: 'submodule' }));
    const others = paths.filter((path) => !isInSubmodule(path));
    // Passed as changed files, so that missing ones are removed from the tree.
    const files = await this.#record(new Map(others.map((path) => [path, NOTHING])));
    const tree = await this.#apply(parent, files);
    return { tree, notRecorded: [...inside, ...files.notRecorded] };
  }

  /**
   * Ignored files, each with a stamp that changes with the file. Of an ignored directory only its name is returned. Directories, and
   * files beyond the limit, have an empty stamp.
   */
  async findIgnored(): Promise<Map<BytePath, string>> {
    const found = new Map((await findIgnored(this.#place)).map((path) => [path, '']));
    const files = [...found.keys()].filter((path) => !path.endsWith('/'));
    for (const path of files.slice(0, snapshotLimits.ignoredStampsMax)) {
      const stats = await lstat(toPath(Buffer.from(this.#place.directory), path), { bigint: true }).catch(
        () => undefined,
      );
      if (stats !== undefined) found.set(path, `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`);
    }
    return found;
  }

  /** Waits until the index is up to date. */
  async settled(): Promise<void> {
    await this.#settling;
  }

  async close(): Promise<void> {
    await this.#settling;
    await rm(this.#place.indexFile, { force: true });
  }

  async #record(known: KnownItems): Promise<RecordedFiles> {
    const { repository, directory } = this.#place;
    return await recordFiles(repository, directory, known, this.#limits);
  }

  async #apply(parent: string, { changes, unchanged, recent }: RecordedFiles): Promise<string> {
    const tree = await this.#place.repository.change(parent, changes);
    for (const [path, item] of changes) {
      // Inserted again, so that the map is ordered by the last change.
      this.#pending.delete(path);
      this.#pending.set(path, item);
    }
    for (const path of unchanged) if (!this.#pending.has(path)) this.#unsettled.add(path);
    for (const path of [...changes.keys(), ...unchanged]) this.#recent.delete(path);
    for (const [path, item] of recent) this.#recent.set(path, item);
    return tree;
  }

  /** Brings the index up to date in the background. The next record waits for it. */
  #settle(): void {
    const settling = this.#flush()
      .then(() => this.#refresh())
      .then(() => this.#compareAgain());
    // Changes that could not be written stay pending; the next record tries again and reports the failure.
    this.#settling = settling.catch(() => {});
  }

  /**
   * Writes changes to the index once there are enough of them: git writes the whole index, and reading a few files again is
   * faster. Removals are written at once, because files at a removed path may be found only with an updated index.
   */
  async #flush(): Promise<void> {
    const changes = [...this.#pending];
    if (changes.length < FLUSHED_FROM && changes.every(([, item]) => item !== null)) return;
    const zero = '0'.repeat(emptyTree(this.#place.repository.format).length);
    // Removals come first, because a directory may have become a file, or a file a directory.
    const removed = changes.flatMap(([path, item]) => (item === null ? [`0 ${zero}\t${path}\0`] : []));
    const added = changes.flatMap(([path, item]) => (item === null ? [] : [`${item.mode} ${item.object}\t${path}\0`]));
    const input = Buffer.from([...removed, ...added].join(''), 'latin1');
    await this.#git(['update-index', '-z', '--add', '--replace', '--index-info'], input);
    for (const [path, item] of changes) {
      if (this.#pending.get(path) === item) this.#pending.delete(path);
      if (item !== null) this.#unsettled.add(path);
    }
  }

  /** Stores the state of files that were just recorded in the index. */
  async #refresh(): Promise<void> {
    const paths = [...this.#unsettled];
    // Reading a few files again is faster than starting a process.
    if (paths.length < REFRESHED_FROM) return;
    this.#unsettled.clear();
    if (paths.length > REFRESHED_ONE_BY_ONE) {
      await this.#git(['update-index', '-q', '--refresh'], undefined, SOME_DIFFER);
      return;
    }
    const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
    await this.#git(['add', '--refresh', '--pathspec-from-file=-', '--pathspec-file-nul'], input, [1, 128]);
  }

  /**
   * Compares all files once more, some time after the index was made: files that were written right before that, such as those
   * of a new worktree, could have been changed in the same second.
   */
  async #compareAgain(): Promise<void> {
    if (this.#madeAt === undefined || Date.now() - this.#madeAt < COMPARE_AFTER_MS) return;
    this.#madeAt = undefined;
    const { indexFile } = this.#place;
    const { stdout } = await this.#run(['ls-files', '-s', '-z']);
    await rm(indexFile, { force: true });
    // Adds entries without file states, so that each file is read.
    await this.#git(['update-index', '-z', '--index-info'], stdout);
    await this.#git(['update-index', '-q', '--refresh'], undefined, SOME_DIFFER);
  }

  async #findFilledSubmodules(): Promise<NotRecorded[]> {
    const found: NotRecorded[] = [];
    for (const path of this.#submodules) {
      if (await hasEntries(join(this.#place.directory, toPathBytes(path).toString()))) {
        found.push({ path, reason: 'submodule' });
      }
    }
    return found;
  }

  async #git(args: readonly string[], input?: Buffer, codes?: readonly number[]): Promise<void> {
    await this.#run(args, input, codes);
  }

  async #run(args: readonly string[], input?: Buffer, codes?: readonly number[]): Promise<GitOutput> {
    const { repository, directory, indexFile } = this.#place;
    return await repository.run(args, { cwd: directory, workTree: directory, indexFile, input, codes });
  }
}

/** The exit code of a refresh that found files that differ. */
const SOME_DIFFER = [1];
const FLUSHED_FROM = 20;
const REFRESHED_FROM = 20;
const REFRESHED_ONE_BY_ONE = 100;
const COMPARE_AFTER_MS = 5_000;

/** An item that differs from every file. */
const NOTHING = { mode: '', object: '' };

/** The paths to read, with their last recorded items. Pending changes override the index, which does not have them. */
function toKnown(
  { tracked, untracked }: Candidates,
  [recent, pending]: readonly [ReadonlyMap<BytePath, TreeItem>, ReadonlyMap<BytePath, TreeItem | null>],
  submodules: readonly BytePath[],
): KnownItems {
  const known = new Map<BytePath, { readonly mode: string; readonly object: string } | undefined>();
  for (const path of untracked) known.set(path, undefined);
  for (const [path, item] of [...recent, ...tracked, ...pending]) known.set(path, item ?? undefined);
  for (const path of submodules) known.delete(path);
  return known;
}

async function hasEntries(path: string): Promise<boolean> {
  try {
    for await (const _entry of await opendir(path)) return true;
  } catch {
    // The path is not a directory or not readable, so it has no files to record.
  }
  return false;
}
