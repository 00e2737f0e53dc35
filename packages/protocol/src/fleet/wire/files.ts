/** A file that has changed. */
export interface WorkspaceFile {
  readonly path: string;
  /** `added`, `modified` or `deleted`. */
  readonly status: string;
  /** Number of added lines; null for a file that is not text. */
  readonly added: number | null;
  readonly removed: number | null;
}

/** Exact counts, also if not all files are listed. */
export interface FileCounts {
  readonly files_count: number;
  readonly lines_added: number;
  readonly lines_removed: number;
}
