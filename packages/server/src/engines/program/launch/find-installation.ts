import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** The files of an installed program. */
export interface Installation {
  /** The program itself, behind all links. */
  readonly program: string;
  /** What of the machine it needs to see to run. */
  readonly paths: readonly string[];
}

/**
 * The files of an installed program. A native one is a single file. One from npm is a script, or a launcher, in a package
 * whose other parts are beside it under the same owner's name. Nothing above that is part of it: a file in a user's
 * home directory must not open the home directory.
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
