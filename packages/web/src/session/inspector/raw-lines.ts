import { readLines } from '../../stores/connection/read-lines.ts';
import { sessionLimits } from '../transcript/limits.ts';

/** A line of the exported log. */
export interface RawLine {
  readonly text: string;
  /** Byte offset in the file. */
  readonly offset: number;
  /** SHA-256 of the line without its line end; empty if the browser has no `crypto.subtle`. */
  readonly hash: string;
}

/** The lines of the log behind these events, at most `sessionLimits.rawLinesMax`. */
export async function findRawLines(
  body: ReadableStream<Uint8Array>,
  eventIds: ReadonlySet<string>,
): Promise<readonly RawLine[]> {
  const found: RawLine[] = [];
  for await (const { text, offset, bytes } of readLines(body)) {
    if (!isOf(text, eventIds)) continue;
    found.push({ text, offset, hash: await hashOf(bytes) });
    if (found.length >= sessionLimits.rawLinesMax) break;
  }
  return found;
}

/** Whether a line belongs to one of the events. Searches the text, which is cheaper than parsing, because most lines belong to other events. */
function isOf(text: string, eventIds: ReadonlySet<string>): boolean {
  const id = /"payload":\{"id":"([^"]+)"/.exec(text)?.[1];
  return id !== undefined && eventIds.has(id);
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // Only secure contexts (https or localhost) have `crypto.subtle`.
  const { subtle } = globalThis.crypto as { subtle?: SubtleCrypto };
  if (subtle === undefined) return '';
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
