import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ReadOnlyPath } from '../../sandbox/sandbox.ts';

/** The program of the tool host as it is started: Node, its file, and what both need in a sandbox. */
export interface HostProgram {
  readonly node: string;
  readonly main: string;
  readonly readOnlyPaths: readonly ReadOnlyPath[];
}

/**
 * Where the program is on this machine. It is always the compiled one, also when the server runs from its sources: a
 * sandbox has none of the tools that would compile it.
 */
export function findHostProgram(): HostProgram {
  const main = join(packageDirectory, MAIN);
  if (existsSync(main)) return { node: process.execPath, main, readOnlyPaths: [] };
  throw new Error(`${main} does not exist: compile it with npm run build, or npx tsc -b`);
}

/**
 * The same in a sandbox, which has the package in a directory of its own. So nothing is seen of where it is installed, and
 * modules are found however the package manager has laid them out.
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
/** At the root, because every other directory may be one that the operator lets in. */
const SANDBOX_DIRECTORY = '/fleetloom';

/** By its own name, because this file may have been put into a bundle. */
const packageFile = createRequire(import.meta.url).resolve('@fleetloom/server/package.json');
const packageDirectory = dirname(packageFile);

function findModule(name: string): string {
  let directory = dirname(createRequire(packageFile).resolve(name));
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory);
  return directory;
}

/** Where a program of the machine is in the sandbox: those of the system are there, others are let in one by one. */
export function toSandboxedPath(
  program: string | undefined,
  name: string,
): { readonly path: string | undefined; readonly readOnlyPaths: readonly ReadOnlyPath[] } {
  if (program === undefined || SYSTEM.test(program)) return { path: program, readOnlyPaths: [] };
  const at = `${SANDBOX_DIRECTORY}/bin/${name}`;
  return { path: at, readOnlyPaths: [{ path: program, at }] };
}

const SYSTEM = /^\/(?:usr|bin|sbin)\//;
