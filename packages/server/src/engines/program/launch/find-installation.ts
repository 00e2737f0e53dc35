import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** The files of an installed program. */
export interface Installation {
  /** The file of the program, with all links resolved. */
  readonly program: string;
  /** The paths of the machine that the program needs to run. */
  readonly paths: readonly string[];
}

/**
 * Finds the files of an installed program. A native program is a single file. A program from npm is a script, or a launcher, in a package
 * whose other parts are beside it under the same owner's name. Nothing above that folder is included: a program in a user's
 * home directory must not make the home directory visible.
 */
export function findInstallation(path: string): Installation {
  const program = realpathSync(path);
  const beside = join(dirname(program), MODULES);
  const paths = [program, ...toPackages(program), ...(existsSync(beside) ? [beside] : [])];
  return { program, paths: [...new Set(paths)] };
}

const MODULES = 'node_modules';

/** `…/node_modules/@owner` or `…/node_modules/name`, of the innermost package that has the file. */
function toPackages(program: string): string[] {
  const at = program.lastIndexOf(`${sep}${MODULES}${sep}`);
  if (at === -1) return [];
  const root = program.slice(0, at + MODULES.length + 1);
  const [name = ''] = program.slice(root.length + 1).split(sep);
  return [join(root, name)];
}
