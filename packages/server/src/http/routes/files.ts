import { cutText } from '@fleetloom/protocol/fleet';
import type { FileMetadata, FilePage } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import { ContentAnswer } from '../response/answer.ts';
import { baseLimits } from '../../base/limits.ts';
import { mapAtOnce } from '../../base/map-at-once.ts';
import { requestError } from '../../base/request-error.ts';
import { toContentHeaders } from '../response/content-headers.ts';
import type { FileStore } from '../../files/file-store.ts';
import { readUpload } from '../request/read-upload.ts';
import { isOutputId, type SessionOutputs } from '../../files/session-outputs.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { deletedFile, fileListQuery, fileMetadata, filePage } from '../schemas/file.ts';

/** The stores of uploads and of session outputs. */
export interface FileRoutesOptions {
  readonly files: FileStore;
  readonly outputs: SessionOutputs;
  readonly clock: Clock;
}

/** `/v1/files`: uploaded files, and the output files of sessions. */
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
      summary: 'List files, the newest first; with scope_id the output files of a session',
      method: 'get',
      path: '/v1/files',
      accepts: ['api'],
      query: fileListQuery,
      gives: filePage,
      handle: async ({ credential: { workspaceId }, query }) => {
        if (query.scope_id === undefined && query.ids === undefined) return await listUploads(workspaceId, query);
        const all = await listAll(workspaceId, query.scope_id, query.ids);
        const wanted = query.ids === undefined ? all : all.filter(({ id }) => query.ids?.includes(id));
        return toFilePage(wanted, query);
      },
    }),
    defineRoute({
      name: 'files.retrieve_metadata',
      summary: 'Read the metadata of a file',
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
          // No content-length: an agent may append to the file in the meantime.
          return new ContentAnswer(toContentHeaders(opened.file), opened.content);
        }
        const file = (await files.find(workspaceId, id)) ?? unknown(id);
        return new ContentAnswer(toContentHeaders(file), files.content(id), file.size_bytes);
      },
    }),
    defineRoute({
      name: 'files.delete',
      summary: 'Delete a file; sessions that have mounted it keep their copy',
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

  async function listUploads(workspaceId: string, query: FilePageQuery): Promise<FilePage> {
    const [after, before] = [afterOf(query), query.before_id];
    for (const id of [after, before]) if (id !== undefined && !isUploadId(id)) throw notAPage();
    const found = await files.list(workspaceId, { limit: query.limit, after, before });
    return toPage(found.files, found.hasMore);
  }

  async function listAll(workspaceId: string, scopeId: string | undefined, ids: readonly string[] = []) {
    if (scopeId !== undefined) return (await outputs.list(workspaceId, scopeId)) ?? unknown(scopeId);
    const found = await mapAtOnce([...new Set(ids)], baseLimits.filesAtOnceMax, (id) => files.find(workspaceId, id));
    return found.filter((file) => file !== undefined).sort((a, b) => (a.id < b.id ? 1 : -1));
  }
}

interface FilePageQuery {
  readonly limit: number;
  readonly page?: string | undefined;
  readonly after_id?: string;
  readonly before_id?: string;
}

/** A page for new clients, which continue with `next_page`, and for older clients, which continue with `last_id`. */
function toFilePage(all: readonly FileMetadata[], query: FilePageQuery): FilePage {
  const { limit, before_id: before } = query;
  const after = afterOf(query);
  const from = after === undefined ? 0 : placeOf(all, after).behind;
  const to = before === undefined ? all.length : placeOf(all, before).at;
  const wanted = all.slice(from, to);
  const data = before !== undefined && after === undefined ? wanted.slice(-limit) : wanted.slice(0, limit);
  return toPage(data, data.length < wanted.length);
}

function afterOf({ page, after_id: after }: FilePageQuery): string | undefined {
  return page === undefined ? after : page.replace(/^page_/, '');
}

function toPage(data: readonly FileMetadata[], hasMore: boolean): FilePage {
  const last = data.at(-1)?.id ?? null;
  return {
    data: [...data],
    next_page: hasMore && last !== null ? `page_${last}` : null,
    has_more: hasMore,
    first_id: data[0]?.id ?? null,
    last_id: last,
  };
}

/** A file that was deleted in the meantime still has its position among uploads, because these are sorted by id. */
function placeOf(all: readonly FileMetadata[], id: string): { readonly at: number; readonly behind: number } {
  const at = all.findIndex((file) => file.id === id);
  if (at !== -1) return { at, behind: at + 1 };
  if (!isUploadId(id)) throw notAPage();
  const place = all.filter((file) => file.id > id).length;
  return { at: place, behind: place };
}

function isUploadId(id: string): boolean {
  return /^file_\w+$/.test(id) && !isOutputId(id);
}

function notAPage() {
  const advice = 'use next_page of an earlier response, or leave it out';
  return requestError('invalid_request', 'page: is not a page of this list', { advice });
}

function unknown(id: string): never {
  throw requestError('unknown_id', `${cutText(id, httpLimits.pathIdCharsMax)} does not exist`);
}
