import type { FileMetadata } from '@fleetloom/protocol/managed-agents';
import { requestError } from '../base/request-error.ts';

/** A file and the workspace that owns it. */
export interface StoredFile {
  readonly workspaceId: string;
  readonly metadata: FileMetadata;
}

/** The metadata of a file that is about to be stored. */
export interface NewFile {
  readonly filename: string;
  readonly mimeType: string;
  readonly expiresAt: number | null;
}

/** Which files of a workspace are listed. Neither bound is included, and neither has to exist. */
export interface FileRange {
  readonly limit: number;
  /** An id: only older files. */
  readonly after?: string | undefined;
  /** An id: only newer files; without `after` those next to it. */
  readonly before?: string | undefined;
}

/** Passes bytes on and counts them; too many end it. */
export function countBytes(content: AsyncIterable<Uint8Array>, bytesMax: number) {
  const counted = { bytes: 0, chunks: pass() };
  return counted;

  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      counted.bytes += chunk.length;
      if (counted.bytes > bytesMax) throw requestError('body_too_large', `the file has more than ${bytesMax} bytes`);
      yield chunk;
    }
  }
}

export function toFileMetadata(id: string, bytes: number, file: NewFile, now: number): FileMetadata {
  const { filename, mimeType, expiresAt } = file;
  return {
    type: 'file',
    id,
    filename,
    mime_type: mimeType,
    size_bytes: bytes,
    downloadable: true,
    created_at: toMoment(now),
    expires_at: expiresAt === null ? null : toMoment(expiresAt),
    scope: null,
  };
}

/** Whether its time is over. */
export function isOver(file: StoredFile, now: number): boolean {
  const end = expiryOf(file);
  return end !== null && end <= now;
}

/** When a file expires; null if it does not. */
export function expiryOf({ metadata: { expires_at: end } }: StoredFile): number | null {
  return end === null ? null : Date.parse(end);
}

/** A range of a list, the newest first, as a range of ids, and one more than wanted: the rest of the range is then known. */
export function toIndexRange({ limit, after, before }: FileRange) {
  const isAscending = before !== undefined && after === undefined;
  return { wanted: { limit: limit + 1, above: before, below: after }, isAscending };
}

function toMoment(time: number): string {
  return new Date(time).toISOString();
}

/** The error at the limit of files. */
export function tooManyFiles(filesMax: number) {
  const problem = `the workspace has ${filesMax} files, and more are not allowed`;
  return requestError('invalid_request', problem, { advice: 'delete files that are not needed' });
}
