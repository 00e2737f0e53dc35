import { lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { TreeRemover } from '../../../base/remove-tree.ts';

/** Where programs keep what they know of a session: settings, transcripts. One directory for each session. */
export interface ProgramHomes {
  /** Made if it is not there, with the directory of its settings in it. */
  open(sessionId: string): Promise<string>;
  /** Replaces the settings that the program of the session is started with. Resolves with their path. */
  writeSettings(sessionId: string, settings: object): Promise<string>;
  /** Links to the settings of a user, which are in this directory. */
  linkSettings(sessionId: string, config: string): Promise<void>;
  /** Resolves when it is out of reach. A second time changes nothing. */
  remove(sessionId: string): Promise<void>;
  /** The sessions that have one. */
  list(): Promise<readonly string[]>;
}

export function createProgramHomes(directory: string, remover: Pick<TreeRemover, 'discard'>): ProgramHomes {
  const parent = resolve(directory);
  const pathOf = (sessionId: string) => join(parent, checked(sessionId));
  const open = async (sessionId: string): Promise<string> => {
    const path = pathOf(sessionId);
    await mkdir(path, { recursive: true, mode: 0o700 });
    // What agents have put there is mounted upon: behind a link of theirs it would be somewhere else.
    await makePlain(join(path, CONFIG));
    if (await isLink(join(path, CONFIG, LOGIN))) await rm(join(path, CONFIG, LOGIN));
    return path;
  };
  return {
    open,
    writeSettings: async (sessionId, settings) => {
      const path = join(await open(sessionId), SETTINGS);
      // Agents can write to this directory: a link of theirs must not be followed, and a directory of theirs has any size.
      await remover.discard(path, { parent, sessionId });
      await writeFile(path, JSON.stringify(settings), { mode: 0o600, flag: 'wx' });
      return path;
    },
    linkSettings: async (sessionId, config) => {
      const own = join(await open(sessionId), CONFIG);
      for (const name of USER_SETTINGS) {
        const found = await lstat(join(own, name)).catch(() => undefined);
        if (found !== undefined && !found.isSymbolicLink()) continue;
        await rm(join(own, name), { force: true });
        await symlink(join(config, name), join(own, name));
      }
    },
    remove: (sessionId) => remover.discard(pathOf(sessionId), { parent, sessionId }),
    list: async () => (await readdir(directory).catch(() => [])).filter((name) => SESSION_ID.test(name)),
  };
}

/** Below the data directory. */
export const PROGRAM_HOMES = 'program-homes';
/** Below the directory of a session: where the program keeps its settings, and its login among them. */
export const CONFIG = '.claude';
export const LOGIN = '.credentials.json';
const SETTINGS = 'settings-of-the-session.json';
/** What users configure there. Everything else is what the program keeps for itself: logins, transcripts, caches. */
const USER_SETTINGS = ['settings.json', 'CLAUDE.md', 'rules', 'agents', 'skills', 'commands', 'output-styles'];

async function makePlain(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) await rm(path);
  await mkdir(path, { recursive: true, mode: 0o700 });
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;
}

const SESSION_ID = /^sesn_\w+$/;

/** Ids are made by us. That one is not a path is checked all the same, because what is removed is gone. */
function checked(sessionId: string): string {
  if (SESSION_ID.test(sessionId)) return sessionId;
  throw new TypeError(`${sessionId} is not the id of a session`);
}
