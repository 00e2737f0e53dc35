import { access, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mapAtOnce } from '../../../base/map-at-once.ts';
import type { Git, GitOutput, GitRunOptions } from '../../git/run-git.ts';
import { snapshotLimits } from './limits.ts';
import { linkObjects } from './link-objects.ts';
import { writeObjects } from './object-writer.ts';
import { emptyTree, type ObjectFormat, toObjectId } from './object-format.ts';
import type { NewObject, ObjectRepository, StoredObject } from './object-repository.ts';
import { applyToTree, type TreeChanges } from './apply-to-tree.ts';
import { readObjects } from './read-objects.ts';

/** How a snapshot repository is created. */
export interface SnapshotRepositoryOptions {
  readonly format: ObjectFormat;
  /** Object directories of the user's repository, which are read but never written. */
  readonly alternates: readonly string[];
  readonly fileBytesMax?: number | undefined;
}

/**
 * The git repository with the recorded files of one session. It has objects and no refs: the frames of the session name
 * the trees. Its configuration comes only from the server, and its attributes disable every conversion, so that bytes are kept exactly.
 */
export class SnapshotRepository implements ObjectRepository {
  readonly path: string;
  readonly format: ObjectFormat;
  readonly fileBytesMax: number;
  readonly #git: Git;
  /** Files of objects that are not durable yet. */
  readonly #unsynced = new Set<string>();

  private constructor(git: Git, path: string, { format, fileBytesMax }: Omit<SnapshotRepositoryOptions, 'alternates'>) {
    this.#git = git;
    this.path = path;
    this.format = format;
    this.fileBytesMax = fileBytesMax ?? snapshotLimits.fileBytesMax;
  }

  /** Opens the repository at a path. Undefined if it does not exist. */
  static async open(git: Git, path: string, fileBytesMax?: number): Promise<SnapshotRepository | undefined> {
    const config = await readFile(join(path, 'config'), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (config === undefined) return undefined;
    const format = config.includes('objectformat = sha256') ? 'sha256' : 'sha1';
    return new SnapshotRepository(git, path, { format, fileBytesMax });
  }

  /** Opens the repository, or creates it. A process that is killed during the creation leaves nothing at the path. */
  static async create(git: Git, path: string, options: SnapshotRepositoryOptions): Promise<SnapshotRepository> {
    const found = await SnapshotRepository.open(git, path, options.fileBytesMax);
    if (found !== undefined) return found;
    const draft = `${path}.new`;
    await rm(draft, { recursive: true, force: true });
    for (const directory of ['objects/info', 'objects/pack', 'refs', 'info']) {
      await mkdir(join(draft, directory), { recursive: true, mode: 0o700 });
    }
    const alternates = await linkObjects(draft, options.alternates);
    const files = {
      HEAD: 'ref: refs/heads/none\n',
      config: toConfig(options.format),
      'info/attributes': ATTRIBUTES,
      'objects/info/alternates': alternates,
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(draft, name), content, { mode: 0o600 });
    await rename(draft, path);
    return new SnapshotRepository(git, path, options);
  }

  get emptyTree(): string {
    return emptyTree(this.format);
  }

  async run(args: readonly string[], options: Partial<GitRunOptions> = {}): Promise<GitOutput> {
    const settings = [...SETTINGS, ...(options.settings ?? [])];
    return await this.#git.run(args, { cwd: this.path, ...options, gitDirectory: this.path, settings });
  }

  async read(names: readonly string[]): Promise<(StoredObject | undefined)[]> {
    return await readObjects(this, names);
  }

  async write(objects: readonly NewObject[]): Promise<string[]> {
    const ids = objects.map(({ type, content }) => toObjectId(this.format, type, content));
    for (const path of await writeObjects(this, new Map(objects.map((object, at) => [ids[at]!, object])))) {
      this.#unsynced.add(path);
    }
    return ids;
  }

  /**
   * Makes all written objects durable, with their directories. Called before a frame names a tree: after a
   * power failure the log must not name objects that do not exist. Syncs many files together, so that the disk is flushed few times.
   */
  async sync(): Promise<void> {
    const files = [...this.#unsynced];
    await mapAtOnce(files, SYNCS_AT_ONCE, syncPath);
    const directories = new Set(files.map((path) => dirname(path)));
    if (files.length > 0) await mapAtOnce([...directories, this.file('objects')], SYNCS_AT_ONCE, syncPath);
    for (const path of files) this.#unsynced.delete(path);
  }

  /** Applies changes to a tree and returns the id of the result. */
  async change(tree: string, changes: TreeChanges): Promise<string> {
    return await applyToTree(this, tree, changes);
  }

  async has(object: string): Promise<boolean> {
    const { code } = await this.run(['cat-file', '-e', object], { codes: [1, 128] });
    return code === 0;
  }

  file(...names: string[]): string {
    return join(this.path, ...names);
  }

  async hasFile(...names: string[]): Promise<boolean> {
    return await access(this.file(...names)).then(
      () => true,
      () => false,
    );
  }
}

const SYNCS_AT_ONCE = 16;

/** Syncs a file. If it was packed and removed in the meantime, git has made the pack durable. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

function toConfig(format: ObjectFormat): string {
  const extensions = format === 'sha256' ? '[extensions]\n\tobjectformat = sha256\n' : '';
  return `[core]\n\trepositoryformatversion = ${format === 'sha256' ? 1 : 0}\n\tbare = true\n${extensions}`;
}

/** Attributes that override every `.gitattributes` of the files. With `!diff` git detects whether a file is text. */
const ATTRIBUTES =
  '* -text -filter -ident -eol -working-tree-encoding -crlf !diff !merge -export-subst -export-ignore\n';

const SETTINGS = [
  'core.bare=false',
  'core.fileMode=true',
  'core.symlinks=true',
  'core.ignoreCase=false',
  'core.precomposeUnicode=false',
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.protectHFS=false',
  'core.protectNTFS=false',
  'core.preloadIndex=true',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.untrackedCache=false',
  'core.sparseCheckout=false',
  'core.splitIndex=false',
  'index.version=2',
  'core.quotePath=true',
];
