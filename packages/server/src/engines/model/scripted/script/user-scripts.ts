import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { FleetloomError } from '../../../../base/errors.ts';
import { inSlices } from '../../../../base/in-slices.ts';
import { limits } from '../limits.ts';
import { type ParsedScript, parseScript } from './parse-script.ts';

/** A directory with one script per file: `review.json` or `review.yaml` is `scripted/review`. */
export interface UserScripts {
  /** Reads a script from its file each time, so that an edited script plays at the next request. */
  read(name: string): Promise<ParsedScript | undefined>;
  /** The names, sorted. */
  list(): Promise<string[]>;
}

/** Reads scripts from a directory. */
export function createUserScripts(directory: string): UserScripts {
  return {
    read: async (name) => {
      if (!isName(name)) return undefined;
      for (const ending of ENDINGS) {
        const text = await readScript(join(directory, `${name}${ending}`));
        if (text === undefined) continue;
        return typeof text === 'string' ? await inSlices(parseScript(text, formatOf(ending))) : text;
      }
      return undefined;
    },
    list: async () => {
      const files = await listFiles(directory);
      const names = files
        .filter((file) => ENDINGS.includes(extname(file)))
        .map((file) => file.slice(0, -extname(file).length));
      return [...new Set(names.filter(isName))].sort().slice(0, limits.userScriptsMax);
    },
  };
}

const ENDINGS = ['.json', '.yaml', '.yml'];

/** Whether a name is valid. It becomes part of a path: dots and slashes could lead out of the directory. */
function isName(name: string): boolean {
  return name.length <= limits.nameCharsMax && /^[A-Za-z0-9][\w.-]*$/.test(name);
}

function formatOf(ending: string): 'json' | 'yaml' {
  return ending === '.json' ? 'json' : 'yaml';
}

/** The text of a script; undefined if the file does not exist; a problem if it is too large to be read. */
async function readScript(path: string): Promise<string | ParsedScript | undefined> {
  try {
    const { size } = await stat(path);
    // UTF-8 needs at most four bytes for a character, and three where a string counts one.
    if (size <= limits.scriptCharsMax * 3) return await readFile(path, 'utf8');
    return { type: 'problem', path: '', message: `has ${size} bytes, which is too big for a script` };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function listFiles(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    throw new FleetloomError({
      code: 'scripts_unreadable',
      kind: 'caller',
      problem: `the scripts in ${directory} cannot be read`,
      advice: 'name a directory that exists and may be read',
      cause,
    });
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
