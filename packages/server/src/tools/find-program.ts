import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Where a program is, or `undefined`. */
export type FindProgram = (name: string) => Promise<string | undefined>;

/** Looks in the directories of PATH, as a shell does. Relative ones are left out: they would be resolved against a workspace. */
export async function findProgram(name: string, path = process.env['PATH'] ?? ''): Promise<string | undefined> {
  for (const directory of path.split(delimiter).filter((part) => isAbsolute(part))) {
    const file = join(directory, name);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    // Missing or not executable: the caller treats both the same.
    return false;
  }
}
