import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ReadOnlyPath } from '../../sandbox/sandbox.ts';

/** The program of the tool host: Node, its main file, and the paths that both need in a sandbox. */
export interface HostProgram {
  readonly node: string;
  readonly main: string;
  readonly readOnlyPaths: readonly ReadOnlyPath[];
}

/**
 * The program on this machine. It is always the compiled one, even if the server runs from its sources: a
 * sandbox does not have the tools to compile it.
 */
export function findHostProgram(): HostProgram {
  const main = join(packageDirectory, MAIN);
  if (existsSync(main)) return { node: process.execPath, main, readOnlyPaths: [] };
  throw new Error(`${main} does not exist: compile it with npm run build, or npx tsc -b`);
}

/**
 * The program in a sandbox, which has the package in a directory of its own. So the place of its installation is hidden, and
 * modules are found in any layout of the package manager.
 */
export function findSandboxedProgram(): HostProgram {
  const { node } = findHostProgram();
  const inside = { node: `${SANDBOX_DIRECTORY}/bin/node`, main: `${SANDBOX_DIRECTORY}/${MAIN}` };
  return {
    ...inside,
    readOnlyPaths: [
      { path: node, at: inside.node },
      ...['dist', 'package.json'].map((name) => ({
        path: join(packageDirectory, name),
        at: `${SANDBOX_DIRECTORY}/${name}`,
      })),
      { path: findModule('re2js'), at: `${SANDBOX_DIRECTORY}/node_modules/re2js` },
    ],
  };
}

const MAIN = 'dist/tools/host/main.js';
/** A directory at the root, because the operator may mount any other directory. */
const SANDBOX_DIRECTORY = '/fleetloom';

/** The package's own manifest, found by name, because this file may be in a bundle. */
const packageFile = createRequire(import.meta.url).resolve('@fleetloom/server/package.json');
const packageDirectory = dirname(packageFile);

function findModule(name: string): string {
  let directory = dirname(createRequire(packageFile).resolve(name));
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory);
  return directory;
}

/** The path of a program in the sandbox: system directories are mounted as a whole, other programs one by one. */
export function toSandboxedPath(
  program: string | undefined,
  name: string,
): { readonly path: string | undefined; readonly readOnlyPaths: readonly ReadOnlyPath[] } {
  if (program === undefined || SYSTEM.test(program)) return { path: program, readOnlyPaths: [] };
  const at = `${SANDBOX_DIRECTORY}/bin/${name}`;
  return { path: at, readOnlyPaths: [{ path: program, at }] };
}

const SYSTEM = /^\/(?:usr|bin|sbin)\//;
