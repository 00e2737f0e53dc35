import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ReadOnlyPath } from '../../tools/sandbox/sandbox.ts';
import { workspaceLimits } from '../limits.ts';
import type { SourceRepository } from '../workspace-source.ts';
import { readBelow } from './read-below.ts';
import type { RepositoryReader, Setting } from './read-repository.ts';

/** The files of a session that replace the user's git directory. */
export interface PrivateGit {
  /** The git directory. */
  readonly path: string;
  /** A file that names the git directory, like `.git` of a worktree. */
  readonly pointer: string;
  /** The user's object directories, each with the path that the git directory refers to. */
  readonly objects: readonly ReadOnlyPath[];
}

/**
 * The paths of these files. The user's object directories get other paths, because their own may be below a `.git` that is
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
 * Creates the git directory that agents use instead of the user's: with the user's objects, branches and tags to read, and refs, index
 * and configuration of its own to write. Of the user's configuration it contains only the author and the remotes.
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

/** Creates links to the object directories for git commands without a sandbox. A sandbox has mounts at these paths. */
async function linkObjects(objects: PrivateGit['objects']): Promise<void> {
  for (const { path, at } of objects) {
    await mkdir(dirname(at), { recursive: true, mode: 0o700 });
    await symlink(path, at);
  }
}

/** Attributes with which git does not convert files: no filters, line endings, encodings or keywords. */
export const EXACT_BYTES = '* -text -eol -crlf -ident -filter -working-tree-encoding\n';

/** A default author, so that agents can commit. The user's settings come later and override it. */
const AGENT_AUTHOR: readonly Setting[] = [
  ['user', null, 'name', 'Fleetloom agent'],
  ['user', null, 'email', 'agent@fleetloom.invalid'],
];

/** The default author as text, inserted at the beginning of a copied configuration. */
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

/** The exclude rules for agents: the user's rules for this repository, and the server's directory in the workspace. */
async function readExclude(commonDirectory: string): Promise<string> {
  const rules = await readBelow(commonDirectory, 'info/exclude', workspaceLimits.gitFileBytesMax);
  return `${rules?.toString().trimEnd() ?? ''}\n/.fleetloom/\n`;
}

/** Copies the list of commits whose parents are missing in a shallow clone. */
async function copyShallow(commonDirectory: string, path: string): Promise<void> {
  const shallow = await readBelow(commonDirectory, 'shallow', workspaceLimits.shallowBytesMax);
  if (shallow !== undefined) await writeFile(join(path, 'shallow'), shallow);
}
