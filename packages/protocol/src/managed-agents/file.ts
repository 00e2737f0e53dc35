import type { IdPage, IdPageParams, Page, PageParams } from './page.ts';

export interface FileMetadata {
  readonly type: 'file';
  readonly id: string;
  readonly filename: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  readonly downloadable: boolean;
  readonly created_at: string;
  readonly expires_at: string | null;
  /** The session that made it; null for what was uploaded. */
  readonly scope: { readonly type: 'session'; readonly id: string } | null;
}

export interface DeletedFile {
  readonly type: 'file_deleted';
  readonly id: string;
}

/** Both kinds of page at once: SDK 1.x goes on by `next_page`, 0.x by `last_id`. */
export type FilePage = Page<FileMetadata> & IdPage<FileMetadata>;

/** `GET /v1/files` */
export interface FileListParams extends PageParams, IdPageParams {
  readonly ids?: readonly string[] | null;
  /** A session: what it has put out. */
  readonly scope_id?: string;
}
