import { realpath, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Git } from '../git/run-git.ts';
import { EXCLUDE_FILE, type IgnoreFile, toExcludeFile } from './exclude-file.ts';
import { findCandidates } from './find-candidates.ts';
import { HeldPaths } from './held-path.ts';
import { snapshotLimits } from './objects/limits.ts';
import { listTree } from './list-tree.ts';
import { type BytePath, toBytePath } from './objects/path-text.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';

/** Where ignore rules come from. */
export interface ExcludeSources {
  readonly git: Git;
  readonly repository: SnapshotRepository;
  /** The tree whose `.gitignore` files apply. Null: those of the directory, as no agent has worked there yet. */
  readonly base: string | null;
  readonly directory: string;
  /** The common git directory of the user's repository. */
  readonly userDirectory: string | null;
}

/** Writes the ignore rules of a session, once: what an agent writes into a `.gitignore` later does not count. */
export async function writeExcludeFile(sources: ExcludeSources): Promise<void> {
  const { repository, base } = sources;
  if (await repository.hasFile(EXCLUDE_FILE)) return;
  const user = await readUserRules(sources);
  const files = base === null ? await readFromDirectory(sources) : await readFromTree(repository, base);
  await write(repository, EXCLUDE_FILE, toExcludeFile(user, files));
}

async function write(repository: SnapshotRepository, name: string, content: string): Promise<void> {
  const draft = repository.file(`${name}.new`);
  await writeFile(draft, content, { encoding: 'latin1', mode: 0o600 });
  await rename(draft, repository.file(name));
}

/** The user's rules for all repositories, then those for this one. */
async function readUserRules({ git, userDirectory, directory }: ExcludeSources): Promise<string[]> {
  if (userDirectory === null) return [];
  const home = homedir();
  const configDirectory = join(process.env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git');
  let excludes = join(configDirectory, 'ignore');
  for (const file of [join(configDirectory, 'config'), join(home, '.gitconfig')]) {
    const args = ['config', '--file', file, '--no-includes', '--type=path', '--get', 'core.excludesFile'];
    const found = await git.run(args, { cwd: directory, env: { HOME: home }, codes: [1] }).catch(() => undefined);
    const path = found?.stdout.toString().trim();
    if (path !== undefined && path !== '') excludes = path;
  }
  // The user's own file is often a link to another place. A repository may be hostile, so no link in it is followed.
  const real = await realpath(excludes).catch(() => excludes);
  const rules = [await readRules(dirname(real), basename(real)), await readRules(userDirectory, 'info/exclude')];
  return rules.filter(Boolean);
}

/** The rules in a file below a directory; none if it is a link, a pipe or a device, or too large. */
async function readRules(directory: string, path: string): Promise<string> {
  const held = new HeldPaths(directory);
  try {
    const found = await held.read(toBytePath(path), snapshotLimits.ignoreFileBytesMax);
    return found.type === 'file' ? found.content.toString('latin1') : '';
  } finally {
    await held.close();
  }
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
