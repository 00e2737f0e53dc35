import type { SessionModel } from './session-model.ts';

/** Whether a session works on a directory or a repository, so that its changes are recorded. */
export function hasWorkspace({ record, workspace }: Pick<SessionModel, 'record' | 'workspace'>): boolean {
  if (workspace.steps.length > 0) return true;
  // The type lists the resources of the hosted API; Fleetloom has more.
  const types: readonly string[] = (record?.resources ?? []).map(({ type }) => type);
  return types.some((type) => SOURCES.has(type));
}

const SOURCES: ReadonlySet<string> = new Set(['directory', 'git_repository', 'github_repository']);
