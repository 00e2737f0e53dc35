import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Git } from '../git/run-git.ts';
import { HeldPaths } from './held-path.ts';
import { snapshotLimits } from './objects/limits.ts';
import { toBytePath } from './objects/path-text.ts';

/** The home directory of the user of this server. */
export interface UserHome {
  readonly home: string;
  /** The directory in which programs store their configuration. */
  readonly config: string;
}

/** Finds the home directory and the configuration directory of the user. */
export function findUserHome(home: string = homedir()): UserHome {
  return { home, config: process.env['XDG_CONFIG_HOME'] || join(home, '.config') };
}

/** The user's ignore rules for all repositories: the file that `core.excludesFile` names, one character for each byte. */
export async function readUserRules(git: Git, { home, config }: UserHome = findUserHome()): Promise<string> {
  let excludes = join(config, 'git', 'ignore');
  for (const file of [join(config, 'git', 'config'), join(home, '.gitconfig')]) {
    const args = ['config', '--file', file, '--no-includes', '--type=path', '--get', 'core.excludesFile'];
    const found = await git.run(args, { cwd: '/', env: { HOME: home }, codes: [1] }).catch(() => undefined);
    const path = found?.stdout.toString().trim();
    if (path !== undefined && path !== '') excludes = path;
  }
  // Resolved first, because the user's own file is often a link. `readRules` follows no link, because a repository may be hostile.
  const real = await realpath(excludes).catch(() => excludes);
  return await readRules(dirname(real), basename(real));
}

/** The rules in a file below a directory; empty if the file is missing, not a regular file, or too large. */
export async function readRules(directory: string, path: string): Promise<string> {
  const held = new HeldPaths(directory);
  try {
    const found = await held.read(toBytePath(path), snapshotLimits.ignoreFileBytesMax);
    return found.type === 'file' ? found.content.toString('latin1') : '';
  } finally {
    await held.close();
  }
}
