import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Finds the path of a program; undefined if it is not installed. */
export type FindProgram = (name: string) => Promise<string | undefined>;

/** Searches the directories of PATH, as a shell does. Skips relative ones, which would be resolved against a workspace. */
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
    // The file is missing or not executable, which makes no difference.
    return false;
  }
}
