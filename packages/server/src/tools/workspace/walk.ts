import { closing, type Directory, isCode } from './directory.ts';
import { throwIfInterrupted } from '../tool-failure.ts';

export interface WalkOptions {
  readonly entriesMax: number;
  readonly depthMax: number;
  readonly signal: AbortSignal;
  /** Called with the open directory, so that the file that is read is the one that was listed. */
  readonly onFile: (directory: Directory, name: string) => Promise<'continue' | 'stop'>;
}

/** Whether everything was seen. */
export type WalkEnd = 'whole' | 'stopped' | 'too_many';

/**
 * Visits the regular files below a directory, in the order of their names. Symbolic links are not followed, and
 * the directories of version control and package managers are skipped.
 */
export async function walk(root: Directory, options: WalkOptions): Promise<WalkEnd> {
  const { entriesMax, depthMax, signal, onFile } = options;
  let seen = 0;
  let isShallow = false;
  const end = await visit(root, 0);
  return end === 'whole' && isShallow ? 'too_many' : end;

  async function visit(directory: Directory, depth: number): Promise<WalkEnd> {
    throwIfInterrupted(signal);
    // Reads one entry more than allowed, to detect that there are more.
    const entries = await directory.list(entriesMax - seen + 1);
    seen += entries.length;
    for (const entry of entries) {
      throwIfInterrupted(signal);
      if (isSkipped(entry.name)) continue;
      if (entry.isFile() && (await onFile(directory, entry.name)) === 'stop') return 'stopped';
      if (!entry.isDirectory()) continue;
      if (depth >= depthMax) isShallow = true;
      else {
        const end = await enter(directory, entry.name, depth + 1);
        if (end !== 'whole') return end;
      }
    }
    return seen > entriesMax ? 'too_many' : 'whole';
  }

  async function enter(parent: Directory, name: string, depth: number): Promise<WalkEnd> {
    const directory = await openIfThere(parent, name);
    if (directory === undefined) return 'whole';
    return await closing(directory, async () => await visit(directory, depth));
  }
}

/** Directories that searches skip, including the server's own, with long outputs and files that are being written. */
export const SKIPPED = ['.git', 'node_modules', '.fleetloom'];

/** Whether searches skip a directory of this name. */
export function isSkipped(name: string): boolean {
  return SKIPPED.includes(name) || name.startsWith('.fleetloom-');
}

/** Opens a directory; undefined if it is gone, not a directory or not readable. */
export async function openIfThere(parent: Directory, name: string): Promise<Directory | undefined> {
  try {
    return await parent.openDirectory(name);
  } catch (error) {
    if (isOutOfReach(error)) return undefined;
    throw error;
  }
}

/** Whether an error means that an entry is gone, was replaced or is not readable: a search skips it. */
export function isOutOfReach(error: unknown): boolean {
  return isCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM');
}
