import type { FileCounts, WorkspaceFile } from '@fleetloom/protocol/fleet';
import { changesLimits } from './limits.ts';

/** The exact numbers of files and lines. */
export function countFiles(files: readonly WorkspaceFile[]): FileCounts {
  return {
    files_count: files.length,
    lines_added: files.reduce((sum, { added }) => sum + (added ?? 0), 0),
    lines_removed: files.reduce((sum, { removed }) => sum + (removed ?? 0), 0),
  };
}

/** A file as responses show it, without its object ids. */
export function toShownFile({ path, status, added, removed }: WorkspaceFile): WorkspaceFile {
  return { path, status, added, removed };
}

/** The first files, and the counts of all files. */
export function showFiles(files: readonly WorkspaceFile[]): FileCounts & { readonly files: readonly WorkspaceFile[] } {
  return { files: files.slice(0, changesLimits.filesMax).map(toShownFile), ...countFiles(files) };
}
