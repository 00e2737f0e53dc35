import { constants } from 'node:fs';
import { lstat, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FleetloomError } from '../../base/errors.ts';
import { closing, Directory, isCode } from '../../tools/workspace/directory.ts';
import { OUTPUTS_PATH, toInside } from '../../tools/workspace/session-paths.ts';

/**
 * Creates the server's directory in a workspace that is not empty: for outputs, and with a `.gitignore` of its own, so
 * that no repository sees it. An existing entry may have been created by the user or an agent, so no link is followed.
 */
export async function makeOwnDirectory(workspace: string): Promise<void> {
  const parts = toInside(OUTPUTS_PATH)!.split('/');
  let directory = await Directory.openRoot(workspace);
  try {
    for (const [index, name] of parts.entries()) {
      await directory.makeDirectory(name);
      const inner = await directory.openDirectory(name);
      await directory.close();
      directory = inner;
      if (index === 0) await writeIgnore(directory);
    }
  } catch (error) {
    if (!isCode(error, 'ELOOP', 'ENOTDIR', 'EEXIST')) throw error;
    throw new FleetloomError({
      code: 'workspace_failed',
      kind: 'caller',
      problem: `${join(workspace, OWN)} is where the files of a session are kept, and a file or link is there`,
      advice: 'remove or rename it',
      cause: error,
    });
  } finally {
    await directory.close();
  }
}

const OWN = '.fleetloom';
const IGNORE = '.gitignore';

async function writeIgnore(directory: Directory): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const file = await directory.openFile(IGNORE, flags, 0o644).catch((error: unknown) => {
    if (isCode(error, 'EEXIST')) return undefined;
    throw error;
  });
  if (file !== undefined) await closing(file, () => file.writeFile('*\n'));
}

/** Removes the server's directory from the user's directory. A link at its path is not followed. */
export async function removeOwnDirectory(directory: string): Promise<void> {
  const own = join(directory, OWN);
  const stats = await lstat(own).catch(() => undefined);
  if (!stats?.isDirectory()) return;
  await rm(join(own, 'session'), { recursive: true, force: true });
  await rm(join(own, IGNORE), { force: true });
  await rmdir(own).catch(() => undefined);
}
