import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ReadOnlyPath } from '../../tools/sandbox/sandbox.ts';
import { workspaceLimits } from '../limits.ts';
import type { SourceRepository } from '../workspace-source.ts';
import { readBelow } from './read-below.ts';
import type { RepositoryReader, Setting } from './read-repository.ts';

/** The files of a session that take the place of the user's git directory. */
export interface PrivateGit {
  /** The git directory. */
  readonly path: string;
  /** A file that names it, as `.git` of a worktree does. */
  readonly pointer: string;
  /** The user's object directories, by the paths that the git directory knows them by. */
  readonly objects: readonly ReadOnlyPath[];
}

/**
 * Where a session has them. The user's objects get paths of their own: those that they have may be below a `.git` that is
 * covered in the sandbox.
 */
export function toPrivateGit(directory: string, { objects }: Pick<SourceRepository, 'objects'>): PrivateGit {
  return {
    path: join(directory, 'git'),
    pointer: join(directory, 'pointer'),
    objects: objects.map((path, index) => ({ path, at: join(directory, 'objects', `${index}`) })),
  };
}

/**
 * Creates the git directory that agents use instead of the user's: the user's objects, branches and tags to read, refs, index
 * and configuration of its own to write. Nothing in it comes from the user's configuration but the author and the remotes.
 */
export async function createPrivateGit(
  { path, pointer, objects }: PrivateGit,
  repository: SourceRepository,
  reader: RepositoryReader,
): Promise<void> {
  const { objectFormat, branch, base, commonDirectory } = repository;
  const [refs, settings, headRef] = await Promise.all([
    reader.packedRefs(),
    reader.settings(),
    branch === null ? reader.headRef() : `refs/heads/${branch}`,
  ]);
  for (const directory of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info', 'hooks']) {
    await mkdir(join(path, directory), { recursive: true, mode: 0o700 });
  }
  const own = headRef === undefined || base === null ? refs : new Map([...refs, [headRef, `${base} ${headRef}\n`]]);
  await Promise.all([
    writeFile(join(path, 'HEAD'), headRef === undefined ? `${base}\n` : `ref: ${headRef}\n`),
    writeFile(join(path, 'config'), toConfig(objectFormat, settings)),
    writeFile(join(path, 'objects/info/alternates'), objects.map(({ at }) => `${at}\n`).join('')),
    writeFile(pointer, `gitdir: ${path}\n`),
    linkObjects(objects),
    writeFile(join(path, 'packed-refs'), toPackedRefs(own)),
    writeFile(join(path, 'info/attributes'), EXACT_BYTES),
    writeFile(join(path, 'info/exclude'), await readExclude(commonDirectory)),
    copyShallow(commonDirectory, path),
  ]);
}

/** For git commands without a sandbox; a sandbox has mounts at these paths. */
async function linkObjects(objects: PrivateGit['objects']): Promise<void> {
  for (const { path, at } of objects) {
    await mkdir(dirname(at), { recursive: true, mode: 0o700 });
    await symlink(path, at);
  }
}

/** Files are written and read as they are: no filter, no line endings, no encoding, no keyword. */
export const EXACT_BYTES = '* -text -eol -crlf -ident -filter -working-tree-encoding\n';

/** An agent must be able to commit. What the user has set comes later, and wins. */
const AGENT_AUTHOR: readonly Setting[] = [
  ['user', null, 'name', 'Fleetloom agent'],
  ['user', null, 'email', 'agent@fleetloom.invalid'],
];

/** The same at the beginning of a configuration that is copied. */
export const AGENT_AUTHOR_TEXT: string = toText(AGENT_AUTHOR);

function toConfig(objectFormat: 'sha1' | 'sha256', settings: readonly Setting[]): string {
  const isSha256 = objectFormat === 'sha256';
  const all: readonly Setting[] = [
    ['core', null, 'repositoryformatversion', isSha256 ? '1' : '0'],
    ['core', null, 'bare', 'false'],
    ['core', null, 'filemode', 'true'],
    ['core', null, 'logallrefupdates', 'true'],
    ...(isSha256 ? [['extensions', null, 'objectformat', 'sha256'] as const] : []),
    ['gc', null, 'auto', '0'],
    ...AGENT_AUTHOR,
    ...settings,
  ];
  return toText(all);
}

function toText(settings: readonly Setting[]): string {
  return settings
    .map(([section, subsection, name, value]) => {
      const title = subsection === null ? `[${section}]` : `[${section} "${subsection}"]`;
      return `${title}\n\t${name} = "${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"\n`;
    })
    .join('');
}

function toPackedRefs(refs: ReadonlyMap<string, string>): string {
  const byName = [...refs].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  return `# pack-refs with: peeled fully-peeled sorted \n${byName.map(([, lines]) => lines).join('')}`;
}

/** Agents see the user's rules of what is not part of the repository, and never the session's own directory. */
async function readExclude(commonDirectory: string): Promise<string> {
  const rules = await readBelow(commonDirectory, 'info/exclude', workspaceLimits.gitFileBytesMax);
  return `${rules?.toString().trimEnd() ?? ''}\n/.fleetloom/\n`;
}

/** The commits whose parents are not there. */
async function copyShallow(commonDirectory: string, path: string): Promise<void> {
  const shallow = await readBelow(commonDirectory, 'shallow', workspaceLimits.shallowBytesMax);
  if (shallow !== undefined) await writeFile(join(path, 'shallow'), shallow);
}
