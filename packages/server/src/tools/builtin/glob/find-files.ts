import type { Directory } from '../../workspace/directory.ts';
import { closing } from '../../workspace/directory.ts';
import { isOutOfReach, isSkipped, type WalkEnd } from '../../workspace/walk.ts';
import type { SearchTime } from '../search/search-time.ts';
import type { GlobPattern, GlobPlaces } from './glob-pattern.ts';

/** The pattern to find, and the limits of the search. */
export interface FindFilesOptions {
  readonly glob: GlobPattern;
  readonly time: SearchTime;
  readonly entriesMax: number;
  readonly depthMax: number;
  /** Called with some files of a directory at a time. */
  readonly onFiles: (directory: Directory, names: readonly string[]) => void;
}

/**
 * Finds the files that match a glob, like `walk`, but on the thread of the caller and without the directories in which
 * nothing can match. Yields to other work of the process every few milliseconds.
 */
export async function findFiles(root: Directory, options: FindFilesOptions): Promise<WalkEnd> {
  const { glob, time, entriesMax, depthMax, onFiles } = options;
  let seen = 0;
  let isShallow = false;
  const end = await visit(root, glob.start, 0);
  return end === 'whole' && isShallow ? 'too_many' : end;

  async function visit(directory: Directory, places: GlobPlaces, depth: number): Promise<WalkEnd> {
    const directories: string[] = [];
    let files: string[] = [];
    // Reads one entry more than allowed, to detect that there are more.
    for (const entry of directory.listNow(entriesMax - seen + 1)) {
      seen++;
      if (time.isPauseDue) await time.pause();
      if (time.isOver) return 'stopped';
      if (isSkipped(entry.name)) continue;
      if (entry.isDirectory()) directories.push(entry.name);
      else if (entry.isFile() && glob.fits(places, entry.name)) files.push(entry.name);
      if (files.length < FILES_AT_ONCE) continue;
      onFiles(directory, files);
      files = [];
    }
    if (files.length > 0) onFiles(directory, files);
    if (seen > entriesMax) return 'too_many';
    for (const name of directories.sort()) {
      const end = await enter(directory, name, places, depth + 1);
      if (end !== 'whole') return end;
    }
    return 'whole';
  }

  async function enter(parent: Directory, name: string, places: GlobPlaces, depth: number): Promise<WalkEnd> {
    const inside = glob.enter(places, name);
    if (inside === undefined) return 'whole';
    if (depth > depthMax) {
      isShallow = true;
      return 'whole';
    }
    const directory = openIfThere(parent, name);
    if (directory === undefined) return 'whole';
    return await closing(directory, async () => await visit(directory, inside, depth));
  }
}

/** Files per batch: some milliseconds of work. */
const FILES_AT_ONCE = 500;

function openIfThere(parent: Directory, name: string): Directory | undefined {
  try {
    return parent.openDirectoryNow(name);
  } catch (error) {
    if (isOutOfReach(error)) return undefined;
    throw error;
  }
}
