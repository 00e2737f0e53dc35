import { lstat, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Makes the objects of other repositories readable, and returns the content of `objects/info/alternates`. Git would follow the
 * alternates of these repositories to any directory, so it gets directories of ours, with links to their objects and
 * without alternates. What is a link there is left out.
 */
export async function linkObjects(repository: string, directories: readonly string[]): Promise<string> {
  for (const [index, directory] of directories.entries()) {
    const own = join(repository, 'alternates', `${index}`);
    await mkdir(own, { recursive: true, mode: 0o700 });
    for (const name of OBJECT_DIRECTORIES) {
      const target = join(directory, name);
      const stats = await lstat(target).catch(() => undefined);
      // One that does not exist may be made later, when the user's repository is packed.
      if (stats === undefined || stats.isDirectory()) await symlink(target, join(own, name));
    }
  }
  // From the directory of objects on, so that a copy of this repository has its own.
  return directories.map((_, index) => `../alternates/${index}\n`).join('');
}

const OBJECT_DIRECTORIES = ['pack', ...Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))];
