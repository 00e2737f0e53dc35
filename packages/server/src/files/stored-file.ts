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

/** The range of files to list. Neither bound is included, and neither has to exist. */
export interface FileRange {
  readonly limit: number;
  /** The id of a file: only older files are listed. */
  readonly after?: string | undefined;
  /** The id of a file: only newer files are listed; without `after` the ones closest to it. */
  readonly before?: string | undefined;
}

/** Passes on bytes and counts them. Throws above `bytesMax`. */
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

/** Whether a file has expired. */
export function isOver(file: StoredFile, now: number): boolean {
  const end = expiryOf(file);
  return end !== null && end <= now;
}

/** When a file expires; null if it does not. */
export function expiryOf({ metadata: { expires_at: end } }: StoredFile): number | null {
  return end === null ? null : Date.parse(end);
}

/** Converts a range of a list, newest first, to a range of ids, with one more id than requested, which shows whether there are more files. */
export function toIndexRange({ limit, after, before }: FileRange) {
  const isAscending = before !== undefined && after === undefined;
  return { wanted: { limit: limit + 1, above: before, below: after }, isAscending };
}

function toMoment(time: number): string {
  return new Date(time).toISOString();
}

/** The error of a workspace that has reached its limit of files. */
export function tooManyFiles(filesMax: number) {
  const problem = `the workspace has ${filesMax} files, and more are not allowed`;
  return requestError('invalid_request', problem, { advice: 'delete files that are not needed' });
}
