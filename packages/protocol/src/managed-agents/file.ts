import type { IdPage, IdPageParams, Page, PageParams } from './page.ts';

/** An uploaded file, or one that a session wrote. */
export interface FileMetadata {
  readonly type: 'file';
  readonly id: string;
  readonly filename: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  readonly downloadable: boolean;
  readonly created_at: string;
  readonly expires_at: string | null;
  /** The session that wrote the file; null for an uploaded one. */
  readonly scope: { readonly type: 'session'; readonly id: string } | null;
}

/** The response to a deletion. */
export interface DeletedFile {
  readonly type: 'file_deleted';
  readonly id: string;
}

/** A page with the fields of both kinds: SDK 1.x continues with `next_page`, 0.x with `last_id`. */
export type FilePage = Page<FileMetadata> & IdPage<FileMetadata>;

/** `GET /v1/files` */
export interface FileListParams extends PageParams, IdPageParams {
  readonly ids?: readonly string[] | null;
  /** A session: lists its output files. */
  readonly scope_id?: string;
}
