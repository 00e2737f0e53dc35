import type { TouchedFile, WorkspaceChanges } from '@fleetloom/protocol/fleet';
import type { OpenedChanges } from './open-changes.ts';

/** Which changes to list. */
export interface ListedRange {
  readonly thread: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The changes of a session with the changed files of all pages. */
export async function listAllChanges(
  { api, path }: Pick<OpenedChanges, 'api' | 'path'>,
  range: ListedRange,
): Promise<WorkspaceChanges> {
  const read = async (more: object) => await api.get<WorkspaceChanges>(`${path}/changes`, { ...range, ...more });
  const first = await read({});
  const files: TouchedFile[] = [...first.files];
  // The same range for all pages, even if files change in the meantime.
  const same = { from: first.from?.cursor, to: first.to?.cursor };
  for (let after = first.next_after ?? null; after !== null; ) {
    const page = await read({ ...same, after });
    files.push(...page.files);
    after = page.next_after;
  }
  return { ...first, files, next_after: null };
}
