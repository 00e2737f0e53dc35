import { lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { TreeRemover } from '../../../base/files/remove-tree.ts';
import type { ProgramOwner } from '../program-owner.ts';

/** The home directory of a program: its own, or the operator's. */
export type ProgramHome =
  /** A directory of its own. */
  | { readonly type: 'own'; readonly path: string }
  /** The operator's home, for the operator's login. */
  | { readonly type: 'operator' };

/** The files that one kind of program keeps in its home directory. */
export interface HomeLayout {
  /** The directory of its configuration: settings, transcripts, a login. */
  readonly config: string;
  /** The file with a login, in the directory of the configuration. */
  readonly login: string;
  /** The settings of users in that directory. All other files belong to the program: logins, transcripts, caches. */
  readonly userSettings: readonly string[];
}

/** The home directories in which programs keep files of sessions: settings, transcripts. One directory for each program. */
export interface ProgramHomes {
  /** Returns the home of an owner. It is created if needed, with the directory of settings. */
  open(owner: ProgramOwner): Promise<string>;
  /** Replaces a file for the start of the program, by its path in the home. Resolves with its full path. */
  write(owner: ProgramOwner, name: string, content: string): Promise<string>;
  /** Links the settings of a user, which are in `operatorConfig`, into the home. */
  linkSettings(owner: ProgramOwner, operatorConfig: string): Promise<void>;
  /** Removes the homes of all programs of a session. Resolves when they are out of reach. Repeating it changes nothing. */
  remove(sessionId: string): Promise<void>;
  /** The sessions with a home. */
  list(): Promise<readonly string[]>;
}

/** Creates the home directories of programs, one for each owner. */
export function createProgramHomes(
  directory: string,
  remover: Pick<TreeRemover, 'discard'>,
  { config, login, userSettings }: HomeLayout,
): ProgramHomes {
  const parent = resolve(directory);
  const open = async (owner: ProgramOwner): Promise<string> => {
    const path = join(parent, toName(owner));
    await mkdir(path, { recursive: true, mode: 0o700 });
    // Agents can write here, and these paths are mounted: a link of an agent would redirect the mount.
    await makePlain(join(path, config));
    if (await isLink(join(path, config, login))) await rm(join(path, config, login));
    return path;
  };
  return {
    open,
    write: async (owner, name, content) => {
      const { sessionId } = owner;
      const path = join(await open(owner), name);
      // Agents can write to this directory: links are not followed, and a directory of any size at this path is discarded.
      await remover.discard(path, { parent, sessionId });
      await writeFile(path, content, { mode: 0o600, flag: 'wx' });
      return path;
    },
    linkSettings: async (owner, operatorConfig) => {
      const own = join(await open(owner), config);
      for (const name of userSettings) {
        const found = await lstat(join(own, name)).catch(() => undefined);
        if (found !== undefined && !found.isSymbolicLink()) continue;
        await rm(join(own, name), { force: true });
        await symlink(join(operatorConfig, name), join(own, name));
      }
    },
    remove: async (sessionId) => {
      const own = (await listNames()).filter((name) => sessionOf(name) === sessionId);
      await Promise.all(own.map((name) => remover.discard(join(parent, name), { parent, sessionId })));
    },
    list: async () => [...new Set((await listNames()).map(sessionOf))],
  };

  async function listNames(): Promise<string[]> {
    return (await readdir(directory).catch(() => [])).filter((name) => NAME.test(name));
  }
}

/** The directory of homes below the data directory. */
export const PROGRAM_HOMES = 'program-homes';

async function makePlain(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) await rm(path);
  await mkdir(path, { recursive: true, mode: 0o700 });
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
}

/** The id of a session, or of a session and the thread of a roster member. */
const NAME = /^sesn_\w+(?:\.sthr_\w+)?$/;

/** The directory name of an owner. Ids come from this server; the form is checked all the same, because `remove` deletes the path. */
function toName({ sessionId, threadId }: ProgramOwner): string {
  const name = threadId === undefined ? sessionId : `${sessionId}.${threadId}`;
  if (NAME.test(name) && sessionOf(name) === sessionId) return name;
  throw new TypeError(`${name} is not the id of a session, or of a session and a thread`);
}

function sessionOf(name: string): string {
  return name.split('.')[0]!;
}
