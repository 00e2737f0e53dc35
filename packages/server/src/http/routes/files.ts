import { cutText } from '@fleetloom/protocol/fleet';
import type { FileMetadata, FilePage } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { ContentAnswer } from '../answer.ts';
import { doorError } from '../door-error.ts';
import { toContentHeaders } from '../files/content-headers.ts';
import type { FileStore } from '../files/file-store.ts';
import { readUpload } from '../files/read-upload.ts';
import { isOutputId, type SessionOutputs } from '../files/session-outputs.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { deletedFile, fileListQuery, fileMetadata, filePage } from '../schemas/file.ts';

export interface FileRoutesOptions {
  readonly files: FileStore;
  readonly outputs: SessionOutputs;
  readonly clock: Clock;
}

/** `/v1/files`: what was uploaded, and what sessions have put out. */
export function createFileRoutes({ files, outputs, clock }: FileRoutesOptions): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'files.upload',
      summary: 'Upload a file, as a form with the part `file`',
      method: 'post',
      path: '/v1/files',
      accepts: ['api'],
      readsBody: true,
      gives: fileMetadata,
      handle: ({ credential: { workspaceId }, incoming }) => readUpload(incoming, { files, clock, workspaceId }),
    }),
    defineRoute({
      name: 'files.list',
      summary: 'List files, the newest first; with scope_id those that a session has put out',
      method: 'get',
      path: '/v1/files',
      accepts: ['api'],
      query: fileListQuery,
      gives: filePage,
      handle: async ({ credential: { workspaceId }, query }) => {
        const all = await listAll(workspaceId, query.scope_id);
        const wanted = query.ids === undefined ? all : all.filter(({ id }) => query.ids?.includes(id));
        return toFilePage(wanted, query);
      },
    }),
    defineRoute({
      name: 'files.retrieve_metadata',
      summary: 'Read about a file',
      method: 'get',
      path: '/v1/files/{file_id}',
      accepts: ['api'],
      gives: fileMetadata,
      handle: async ({ credential: { workspaceId }, params: { file_id: id } }) => {
        const found = isOutputId(id) ? await outputs.find(workspaceId, id) : await files.find(workspaceId, id);
        return found ?? unknown(id);
      },
    }),
    defineRoute({
      name: 'files.download',
      summary: 'Read the content of a file',
      method: 'get',
      path: '/v1/files/{file_id}/content',
      accepts: ['api'],
      gives: 'content',
      handle: async ({ credential: { workspaceId }, params: { file_id: id } }) => {
        if (isOutputId(id)) {
          const opened = (await outputs.open(workspaceId, id)) ?? unknown(id);
          // Its length is not told: an agent may write more to it meanwhile.
          return new ContentAnswer(toContentHeaders(opened.file), opened.content);
        }
        const file = (await files.find(workspaceId, id)) ?? unknown(id);
        return new ContentAnswer(toContentHeaders(file), files.content(id), file.size_bytes);
      },
    }),
    defineRoute({
      name: 'files.delete',
      summary: 'Delete a file; where it is mounted already it stays',
      method: 'delete',
      path: '/v1/files/{file_id}',
      accepts: ['api'],
      gives: deletedFile,
      handle: async ({ credential: { workspaceId }, params: { file_id: id } }) => {
        const wasThere = isOutputId(id) ? await outputs.delete(workspaceId, id) : await files.delete(workspaceId, id);
        return wasThere ? { type: 'file_deleted', id } : unknown(id);
      },
    }),
  ];

  async function listAll(workspaceId: string, scopeId: string | undefined): Promise<readonly FileMetadata[]> {
    if (scopeId === undefined) return await files.list(workspaceId);
    return (await outputs.list(workspaceId, scopeId)) ?? unknown(scopeId);
  }
}

interface FilePageQuery {
  readonly limit: number;
  readonly page?: string | undefined;
  readonly after_id?: string;
  readonly before_id?: string;
}

/** Pages for new clients, which go on by `next_page`, and for older ones, which go on by `last_id`. */
function toFilePage(all: readonly FileMetadata[], query: FilePageQuery): FilePage {
  const { limit, before_id: before } = query;
  const after = query.page === undefined ? query.after_id : query.page.replace(/^page_/, '');
  const from = after === undefined ? 0 : placeOf(all, after).behind;
  const to = before === undefined ? all.length : placeOf(all, before).at;
  const wanted = all.slice(from, to);
  const data = before !== undefined && after === undefined ? wanted.slice(-limit) : wanted.slice(0, limit);
  const last = data.at(-1)?.id ?? null;
  const hasMore = data.length < wanted.length;
  return {
    data,
    next_page: hasMore && last !== null ? `page_${last}` : null,
    has_more: hasMore,
    first_id: data[0]?.id ?? null,
    last_id: last,
  };
}

/** A file that was deleted meanwhile still has its place among the uploaded ones, which are sorted by their ids. */
function placeOf(all: readonly FileMetadata[], id: string): { readonly at: number; readonly behind: number } {
  const at = all.findIndex((file) => file.id === id);
  if (at !== -1) return { at, behind: at + 1 };
  const isGone = /^file_\w+$/.test(id) && !isOutputId(id);
  const advice = 'use next_page of an earlier answer, or leave it out';
  if (!isGone) throw doorError('invalid_request', 'page: is no page of this list', { advice });
  const place = all.filter((file) => file.id > id).length;
  return { at: place, behind: place };
}

function unknown(id: string): never {
  throw doorError('unknown_id', `${cutText(id, limits.pathIdCharsMax)} does not exist`);
}
