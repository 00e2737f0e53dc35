import type { Page as WirePage } from '@fleetloom/protocol/managed-agents';
import { requestError } from '../base/request-error.ts';
import type { Store, WorkspaceDocuments } from '../store/store.ts';
import { type Stored, toStored } from './stored.ts';

/** A requested page of a list, newest first. */
export interface VaultPage {
  readonly limit: number;
  readonly page?: string | undefined;
  readonly includeArchived: boolean;
}

/** A page of the documents of an owner. `next_page` names the last item, so documents that are added later do not shift the next page. */
export async function listDocuments<Data extends { readonly archivedAt: number | null }>(
  documents: Store['documents'],
  of: Pick<WorkspaceDocuments, 'kind' | 'workspaceId'>,
  { limit, page, includeArchived }: VaultPage,
): Promise<WirePage<Stored<Data>>> {
  const found: Stored<Data>[] = [];
  let below = page === undefined ? undefined : toId(page);
  // One more than asked for, to know whether there is a next page.
  while (found.length <= limit) {
    const some = await documents.listOfWorkspace({ ...of, limit: limit + 1, below });
    if (some.length === 0) break;
    below = some.at(-1)!.id;
    const all = some.map(toStored<Data>);
    found.push(...all.filter(({ data }) => includeArchived || data.archivedAt === null));
  }
  const data = found.slice(0, limit);
  return { data, next_page: found.length > limit ? `${PREFIX}${data.at(-1)!.id}` : null };
}

function toId(page: string): string {
  if (/^page_(?:vlt|vcrd)_[0-9a-z]+$/.test(page)) return page.slice(PREFIX.length);
  const advice = 'use next_page of an earlier response, or leave it out';
  throw requestError('invalid_request', 'page: is not a page of this list', { advice });
}

const PREFIX = 'page_';

/** The dates of an object, as on the wire. */
export function toDates(record: {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly archivedAt: number | null;
}) {
  return {
    created_at: new Date(record.createdAt).toISOString(),
    updated_at: new Date(record.updatedAt).toISOString(),
    archived_at: record.archivedAt === null ? null : new Date(record.archivedAt).toISOString(),
  };
}
