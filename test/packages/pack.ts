import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../support/root.ts';

export interface Packed {
  name: string;
  /** Path of the tarball. */
  tarball: string;
  /** Paths of what is in it. */
  files: string[];
}

/**
 * Makes the tarballs that would be published, in an empty folder.
 *
 * From a copy that is compiled there: what lies in the repository's dist may be older than the sources, or may hold
 * what a file that is gone today has left behind.
 */
export async function pack(folder: string, names: string[]): Promise<Packed[]> {
  const copy = join(folder, 'copy');
  await copySources(copy);
  const packages = names.map((name) => `./packages/${name}`);
  // `npm test` has checked the types of the same sources, which takes two thirds of the time.
  await run(process.execPath, [tscPath, '-b', '--noCheck', ...packages], copy);
  await run(process.execPath, [vitePath, 'build', 'packages/web', '--config', 'packages/web/vite.config.ts'], copy);
  const { stdout } = await runNpm(['pack', ...packages, '--pack-destination', folder, '--json'], copy);
  const packed: { name: string; filename: string; files: { path: string }[] }[] = JSON.parse(stdout);
  return packed.map(({ name, filename, files }) => {
    return { name, tarball: join(folder, filename), files: files.map(({ path }) => path) };
  });
}

/** The compiler of the workspace. */
export const tscPath = join(repositoryRoot, 'node_modules', 'typescript', 'bin', 'tsc');

const vitePath = join(repositoryRoot, 'node_modules', 'vite', 'bin', 'vite.js');

export function runNpm(args: string[], cwd: string): Promise<Output> {
  // `npm run` sets its own path.
  const npm = process.env['npm_execpath'];
  const isNpm = npm !== undefined && basename(npm) === 'npm-cli.js';
  return isNpm ? run(process.execPath, [npm, ...args], cwd) : run('npm', args, cwd);
}

export interface Output {
  stdout: string;
  stderr: string;
}

/** Runs a program to its end; a failure throws an error with its output. */
export async function run(program: string, args: string[], cwd: string): Promise<Output> {
  try {
    return await promisify(execFile)(program, args, { cwd, env: environment(), maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout, stderr } = error as Output;
    throw new Error(`${basename(program)} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Without the variables of npm and vitest, which a user's shell does not have. */
function environment(): NodeJS.ProcessEnv {
  const isOurs = (name: string) =>
    /^(?:npm_(?!config_|execpath)|INIT_CWD$|VITEST|NODE_(?:ENV|OPTIONS|PATH)$)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)));
}

async function copySources(copy: string): Promise<void> {
  const made = new Set(['dist', 'node_modules']);
  const filter = (path: string) => !made.has(basename(path));
  await cp(join(repositoryRoot, 'packages'), join(copy, 'packages'), { recursive: true, filter });
  await cp(join(repositoryRoot, 'tsconfig.base.json'), join(copy, 'tsconfig.base.json'));
  await linkModules(copy);
}

/** The installed packages, except our own, which have to be the copies. */
async function linkModules(copy: string): Promise<void> {
  const installed = join(repositoryRoot, 'node_modules');
  const own = join(copy, 'node_modules', '@fleetloom');
  await mkdir(own, { recursive: true });
  const others = (await readdir(installed)).filter((name) => name !== '@fleetloom' && name !== 'fleetloom');
  for (const name of others) await symlink(join(installed, name), join(copy, 'node_modules', name));
  for (const name of await readdir(join(copy, 'packages'))) {
    await symlink(join(copy, 'packages', name), join(own, name));
    const nested = join(repositoryRoot, 'packages', name, 'node_modules');
    if (existsSync(nested)) await symlink(nested, join(copy, 'packages', name, 'node_modules'));
  }
}
