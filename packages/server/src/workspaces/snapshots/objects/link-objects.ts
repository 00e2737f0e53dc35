import { lstat, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Makes the objects of other repositories readable, and returns the content of `objects/info/alternates`. Git would follow the
 * alternates of these repositories to any directory, so git gets directories of the server, with links to their objects and
 * without alternates. Object directories that are links are skipped.
 */
export async function linkObjects(repository: string, directories: readonly string[]): Promise<string> {
  for (const [index, directory] of directories.entries()) {
    const own = join(repository, 'alternates', `${index}`);
    await mkdir(own, { recursive: true, mode: 0o700 });
    for (const name of OBJECT_DIRECTORIES) {
      const target = join(directory, name);
      const stats = await lstat(target).catch(() => undefined);
      // A missing directory may be created later, for example when the user's repository is packed.
      if (stats === undefined || stats.isDirectory()) await symlink(target, join(own, name));
    }
  }
  // Relative to the directory of objects, so that a copy of this repository uses its own links.
  return directories.map((_, index) => `../alternates/${index}\n`).join('');
}

const OBJECT_DIRECTORIES = ['pack', ...Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))];
