import type {
  ChangesApplied,
  ChangesDiscarded,
  ChangesRestored,
  WorkspaceChanges,
  WorkspaceDiff,
  WorkspaceTree,
} from '@fleetloom/protocol/fleet';
import { api, ApiError } from '../../stores/connection/api.ts';
import { changesTabLimits } from './limits.ts';

/** The body of `POST …/changes/apply`: which changes to apply, and where. */
export interface ApplyParams {
  readonly onto: 'working_tree' | 'branch';
  readonly branch?: string;
  readonly message?: string;
  readonly paths?: readonly string[];
  readonly at: string;
}

/** A file that both sides changed in different ways. */
export interface ConflictFile {
  readonly path: string;
  /** The reason in words. */
  readonly text: string;
}

/** Requests of the Changes tab. */
export const changesApi = {
  list: (sessionId: string, query: { from?: string; to?: string; thread?: string }) =>
    api.get<WorkspaceChanges>(pathOf(sessionId, 'changes', query)),
  diff: (sessionId: string, query: { path: string; from: string; to: string }) =>
    api.get<WorkspaceDiff>(pathOf(sessionId, 'changes/diff', query)),
  tree: (sessionId: string, at: string) =>
    api.get<WorkspaceTree>(pathOf(sessionId, 'tree', { at, limit: String(changesTabLimits.treeFilesMax) })),
  contentPath: (sessionId: string, path: string, at: string) => pathOf(sessionId, 'files/content', { path, at }),
  apply: (sessionId: string, params: ApplyParams, isDryRun: boolean, signal?: AbortSignal) =>
    api.post<ChangesApplied>(`v1/sessions/${sessionId}/changes/apply`, { ...params, dry_run: isDryRun }, signal),
  discard: (sessionId: string, isDryRun: boolean) =>
    api.post<ChangesDiscarded>(`v1/sessions/${sessionId}/changes/discard`, { dry_run: isDryRun }),
  restore: (sessionId: string, at: string, isDryRun: boolean, signal?: AbortSignal) =>
    api.post<ChangesRestored>(`v1/sessions/${sessionId}/changes/restore`, { at, dry_run: isDryRun }, signal),
};

/** The conflicts that an error of `apply` lists. Undefined for other errors. */
export function conflictsOf(
  problem: unknown,
): { readonly files: readonly ConflictFile[]; readonly count: number } | undefined {
  if (!(problem instanceof ApiError) || problem.code !== 'apply_conflict') return undefined;
  // The cast relies on the contract of the server, as for every response.
  const { files = [], files_count = files.length } = problem.details as {
    files?: readonly ConflictFile[];
    files_count?: number;
  };
  return { files, count: files_count };
}

/** The message of an error for the user. */
export function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

function pathOf(sessionId: string, name: string, query: Readonly<Record<string, string>>): string {
  const fields = new URLSearchParams(query).toString();
  return `v1/sessions/${sessionId}/${name}${fields === '' ? '' : `?${fields}`}`;
}
