import type { WorkspaceChanges, WorkspaceTree } from '@fleetloom/protocol/fleet';
import { useMemo } from 'react';
import { changesApi } from './changes-api.ts';
import { changesPage } from './changes-page.ts';
import { type FileRow, toFileRows, type TreeFile } from './file-rows.ts';
import { type Loaded, useLoaded } from '../../ui/use-loaded.ts';

/** The rows to list, and the whole tree if every file is listed. */
export interface TreeFiles {
  readonly rows: readonly FileRow[];
  /** The selected file; the first changed one if it is not listed, e.g. at another moment or with another filter. */
  readonly current: string | undefined;
  readonly tree: Loaded<WorkspaceTree>;
}

/** The changed files; on request all files of the moment shown, with the status of the changed files. */
export function useTreeFiles(changes: WorkspaceChanges): TreeFiles {
  const { isWholeTree, closed, path } = changesPage;
  const { session_id: sessionId, to } = changes;
  const subject = isWholeTree && to !== null ? sessionId : undefined;
  const tree = useLoaded(subject, to?.tree ?? '', () => changesApi.tree(sessionId, to!.cursor));
  const entries = tree.value?.entries;
  const files: readonly TreeFile[] = useMemo(() => {
    if (!isWholeTree) return changes.files;
    const byPath = new Map<string, TreeFile>((entries ?? []).map((entry) => [entry.path, { path: entry.path }]));
    // Added because deleted files are no longer in the tree.
    for (const file of changes.files) byPath.set(file.path, file);
    return [...byPath.values()].toSorted((left, right) => (left.path < right.path ? -1 : 1));
  }, [changes, entries, isWholeTree]);
  const rows = useMemo(() => toFileRows(files, closed), [files, closed]);
  const isListed = path !== undefined && files.some((file) => file.path === path);
  const first = rows.find((row) => row.type === 'file' && row.file.status !== undefined) ?? changes.files[0];
  return { rows, current: isListed ? path : first?.path, tree };
}
