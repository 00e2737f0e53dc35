import type { PageParams } from './page.ts';

/** Something that is mounted into the files of a session. */
export type SessionResource = FileResource | GithubRepositoryResource | MemoryStoreResource;

export interface FileResource {
  readonly type: 'file';
  readonly id: string;
  readonly file_id: string;
  readonly mount_path: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface GithubRepositoryResource {
  readonly type: 'github_repository';
  readonly id: string;
  readonly url: string;
  readonly mount_path: string;
  readonly checkout?: Checkout | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface MemoryStoreResource {
  readonly type: 'memory_store';
  readonly memory_store_id: string;
  readonly access?: 'read_write' | 'read_only' | null;
  readonly description?: string;
  readonly instructions?: string | null;
  readonly mount_path?: string | null;
  readonly name?: string | null;
}

export type Checkout =
  | { readonly type: 'branch'; readonly name: string }
  | { readonly type: 'commit'; readonly sha: string };

export type SessionResourceParams = FileResourceParams | GithubRepositoryResourceParams | MemoryStoreResourceParams;

/** Also the body of `POST /v1/sessions/{id}/resources`. */
export interface FileResourceParams {
  readonly type: 'file';
  readonly file_id: string;
  readonly mount_path?: string | null;
}

export interface GithubRepositoryResourceParams {
  readonly type: 'github_repository';
  readonly url: string;
  /** Never answered. */
  readonly authorization_token?: string;
  readonly checkout?: Checkout | null;
  readonly mount_path?: string | null;
}

export interface MemoryStoreResourceParams {
  readonly type: 'memory_store';
  readonly memory_store_id: string;
  readonly access?: 'read_write' | 'read_only' | null;
  readonly instructions?: string | null;
}

/** `POST /v1/sessions/{id}/resources/{resource}` */
export interface SessionResourceUpdateParams {
  readonly authorization_token: string;
}

/** `GET /v1/sessions/{id}/resources`. Without a limit all are listed. */
export type SessionResourceListParams = PageParams;

export interface DeletedSessionResource {
  readonly type: 'session_resource_deleted';
  readonly id: string;
}
