import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Io } from './io.ts';

/**
 * A message with its commands as they work when they are pasted into a shell: `fleetloom` where it is on PATH, else `npx fleetloom`.
 * npm adds its own directories to PATH for the programs it starts, so there PATH says nothing about the user's shell.
 */
export function toPasted({ env, platform }: Pick<Io, 'env' | 'platform'>, text: string): string {
  const pasted = text.replace(COMMAND, 'npx fleetloom ');
  return pasted === text || (!isStartedByNpm(env) && isOnPath(env, platform)) ? text : pasted;
}

/** The name of the program at the start of a command, but not in a path, in a URL or after `npx`. */
const COMMAND = /(?<![\w./@-]|npx )fleetloom (?=[a-z<])/g;

function isStartedByNpm(env: Io['env']): boolean {
  return (env['npm_execpath'] ?? '') !== '' || (env['npm_config_user_agent'] ?? '') !== '';
}

function isOnPath(env: Io['env'], platform: string): boolean {
  const names = platform === 'win32' ? ['fleetloom.cmd', 'fleetloom.exe'] : ['fleetloom'];
  const path = env['PATH'] ?? env['Path'];
  // Without PATH nothing is known about the shell.
  if (path === undefined) return true;
  const directories = path.split(delimiter).filter((directory) => directory !== '');
  return directories.some((directory) => names.some((name) => isExecutable(join(directory, name))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
