import { rename, writeFile } from 'node:fs/promises';
import type { Git } from '../git/run-git.ts';
import { EXCLUDE_FILE, type IgnoreFile, toExcludeFile } from './exclude-file.ts';
import { findCandidates } from './find-candidates.ts';
import { HeldPaths } from './held-path.ts';
import { snapshotLimits } from './objects/limits.ts';
import { listTree } from './list-tree.ts';
import { type BytePath, toBytePath } from './objects/path-text.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import { readRules, readUserRules } from './user-rules.ts';

/** The sources of ignore rules. */
export interface ExcludeSources {
  readonly git: Git;
  readonly repository: SnapshotRepository;
  /** The tree whose `.gitignore` files apply. Null: the files in the directory apply, in which no agent has worked yet. */
  readonly base: string | null;
  readonly directory: string;
  /** The common git directory of the user's repository. */
  readonly userDirectory: string | null;
}

/** Writes the ignore rules of a session, only once: later changes of `.gitignore` files by agents have no effect. */
export async function writeExcludeFile(sources: ExcludeSources): Promise<void> {
  const { repository, base } = sources;
  if (await repository.hasFile(EXCLUDE_FILE)) return;
  const user = await readOwnRules(sources);
  const files = base === null ? await readFromDirectory(sources) : await readFromTree(repository, base);
  await write(repository, EXCLUDE_FILE, toExcludeFile(user, files));
}

async function write(repository: SnapshotRepository, name: string, content: string): Promise<void> {
  const draft = repository.file(`${name}.new`);
  await writeFile(draft, content, { encoding: 'latin1', mode: 0o600 });
  await rename(draft, repository.file(name));
}

/** The user's rules for all repositories, then the user's rules for this repository. */
async function readOwnRules({ git, userDirectory }: ExcludeSources): Promise<string[]> {
  if (userDirectory === null) return [];
  const rules = [await readUserRules(git), await readRules(userDirectory, 'info/exclude')];
  return rules.filter(Boolean);
}

async function readFromTree(repository: SnapshotRepository, tree: string): Promise<IgnoreFile[]> {
  const entries: { path: BytePath; object: string }[] = [];
  for await (const { path, object, bytes, mode } of listTree(repository, tree)) {
    const isFile = mode !== '120000' && (bytes ?? Number.POSITIVE_INFINITY) <= snapshotLimits.ignoreFileBytesMax;
    if (isFile && IGNORE_FILE.test(path)) entries.push({ path: toBytePath(path), object });
  }
  const objects = await repository.read(entries.map(({ object }) => object));
  return entries.flatMap(({ path }, at) => {
    const content = objects[at]?.content.toString('latin1');
    return content === undefined ? [] : [{ directory: toDirectory(path), content }];
  });
}

async function readFromDirectory({ repository, directory }: ExcludeSources): Promise<IgnoreFile[]> {
  const first = 'info/exclude-nothing';
  await write(repository, first, toExcludeFile([], []));
  const indexFile = repository.file('no-index');
  const place = { repository, directory, indexFile, excludeFile: repository.file(first) };
  const { untracked } = await findCandidates(place);
  const files: IgnoreFile[] = [];
  const held = new HeldPaths(directory);
  try {
    for (const path of untracked.filter((one) => IGNORE_FILE.test(one))) {
      const found = await held.read(path, snapshotLimits.ignoreFileBytesMax);
      if (found.type === 'file')
        files.push({ directory: toDirectory(path), content: found.content.toString('latin1') });
    }
  } finally {
    await held.close();
  }
  return files;
}

const IGNORE_FILE = /(^|\/)\.gitignore$/;

function toDirectory(path: BytePath): BytePath {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
