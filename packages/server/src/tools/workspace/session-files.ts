import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toolLimits } from '../limits.ts';
import { closing, type Directory, isCode } from './directory.ts';
import { withResolvedPath } from './resolve-path.ts';
import { openIfThere, walk } from './walk.ts';
import { OUTPUTS_PATH } from './session-paths.ts';
import { ToolFailure } from '../tool-failure.ts';

export interface OutputFile {
  /** The path in the directory of outputs. */
  readonly path: string;
  readonly bytes: number;
  readonly changedAt: number;
}

/**
 * Writes a file to a path that agents use. Like the tools of agents it does not follow links that lead out of the
 * workspace: an agent may have created some.
 */
export async function putSessionFile(workspace: string, path: string, open: () => Readable): Promise<void> {
  await withResolvedPath(workspace, path, { ...LINKS, makesParents: true }, async ({ directory, name, stats }) => {
    if (name === '.' || stats?.isDirectory()) throw new ToolFailure(`${path} is a directory`);
    const draft = `.fleetloom-put-${process.pid}-${count++}.tmp`;
    const handle = await directory.openFile(draft, CREATE_FLAGS, 0o644);
    try {
      // The stream closes the handle.
      await pipeline(open(), handle.createWriteStream({ flush: true }));
      await directory.rename(draft, name);
    } catch (error) {
      await directory.remove(draft);
      throw error;
    }
  });
}

/**
 * Moves a whole directory of the same file system to a path that agents use. Neither a symbolic link on the path nor
 * an existing entry at the path is accepted, except for an empty directory.
 */
export async function putSessionDirectory(workspace: string, path: string, from: string): Promise<void> {
  await withResolvedPath(workspace, path, { linksMax: 0, makesParents: true }, async ({ directory, name, stats }) => {
    const taken = new ToolFailure(`there is something at ${path} already`);
    if (name === '.' || (stats !== undefined && !stats.isDirectory())) throw taken;
    await directory.moveIn(from, name).catch((error: unknown) => {
      throw isCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR') ? taken : error;
    });
  });
}

/** Removes a file. Does nothing if it does not exist. */
export async function removeSessionFile(workspace: string, path: string): Promise<void> {
  await withResolvedPath(workspace, path, LINKS, async ({ directory, name, stats }) => {
    if (stats?.isFile()) await directory.remove(name);
  }).catch((error: unknown) => {
    // Agents may have moved whole directories away.
    if (!(error instanceof ToolFailure)) throw error;
  });
}

/** Lists the output files of agents, sorted by path. */
export async function listOutputs(
  workspace: string,
  filesMax: number = toolLimits.outputFilesMax,
  entriesMax: number = toolLimits.outputEntriesMax,
): Promise<readonly OutputFile[]> {
  const files: OutputFile[] = [];
  const signal = new AbortController().signal;
  await withResolvedPath(workspace, OUTPUTS_PATH, LINKS, async ({ directory, name, stats }) => {
    if (!stats?.isDirectory()) return;
    const outputs = await directory.openDirectory(name);
    await closing(outputs, async (root) => {
      await walk(root, {
        entriesMax,
        depthMax: toolLimits.walkDepthMax,
        signal,
        onFile: async (at, file) => {
          const found = await at.stat(file);
          const path = posix.relative(root.path, at.pathOf(file));
          if (found?.isFile()) files.push({ path, bytes: found.size, changedAt: Math.round(found.mtimeMs) });
          return files.length < filesMax ? 'continue' : 'stop';
        },
      });
    });
  }).catch((error: unknown) => {
    // There are no outputs, or the path leads out of the workspace.
    if (!(error instanceof ToolFailure)) throw error;
  });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Finds one of the files that `listOutputs` returns, without listing the others. Undefined if it does not exist any more. */
export async function findOutput(workspace: string, path: string): Promise<OutputFile | undefined> {
  return await withResolvedPath(workspace, OUTPUTS_PATH, LINKS, async ({ directory, name, stats }) => {
    if (!stats?.isDirectory()) return undefined;
    const outputs = await directory.openDirectory(name);
    return await closing(outputs, async (root) => await findBelow(root, path.split('/'), path));
  }).catch((error: unknown) => {
    if (!(error instanceof ToolFailure)) throw error;
    return undefined;
  });
}

/** Finds a file below a directory. Like `listOutputs` it follows no link. */
async function findBelow(
  directory: Directory,
  [name = '', ...rest]: readonly string[],
  path: string,
): Promise<OutputFile | undefined> {
  if (rest.length === 0) {
    const found = await directory.stat(name);
    return found?.isFile() ? { path, bytes: found.size, changedAt: Math.round(found.mtimeMs) } : undefined;
  }
  const inner = await openIfThere(directory, name);
  return inner && (await closing(inner, async () => await findBelow(inner, rest, path)));
}

/** An open output file of a session, which the caller closes. Undefined if the file no longer exists. */
export async function openOutput(workspace: string, path: string): Promise<FileHandle | undefined> {
  return await withResolvedPath(workspace, `${OUTPUTS_PATH}/${path}`, LINKS, async ({ directory, name, stats }) =>
    stats?.isFile() ? await directory.openFile(name, constants.O_RDONLY) : undefined,
  ).catch((error: unknown) => {
    if (!(error instanceof ToolFailure)) throw error;
    return undefined;
  });
}

const LINKS = { linksMax: toolLimits.fileLinksMax };
const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
let count = 0;
