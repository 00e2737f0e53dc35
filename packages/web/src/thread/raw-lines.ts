import { readLines } from '../connection/read-lines.ts';
import { limits } from '../limits.ts';

/** A line of the exported log, as it is in the file. */
export interface RawLine {
  readonly text: string;
  /** Where it begins in the file, in bytes. */
  readonly offset: number;
  /** SHA-256 of the line without its end; empty where a browser does not hash. */
  readonly hash: string;
}

/** The lines of the log that these events were made of. */
export async function findRawLines(
  body: ReadableStream<Uint8Array>,
  eventIds: ReadonlySet<string>,
): Promise<readonly RawLine[]> {
  const found: RawLine[] = [];
  for await (const { text, offset, bytes } of readLines(body)) {
    if (!isOf(text, eventIds)) continue;
    found.push({ text, offset, hash: await hashOf(bytes) });
    if (found.length >= limits.rawLinesMax) break;
  }
  return found;
}

/** Most lines are of others: only one that names an event is read. */
function isOf(text: string, eventIds: ReadonlySet<string>): boolean {
  const id = /"payload":\{"id":"([^"]+)"/.exec(text)?.[1];
  return id !== undefined && eventIds.has(id);
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // Only pages of this machine or with https have it.
  const { subtle } = globalThis.crypto as { subtle?: SubtleCrypto };
  if (subtle === undefined) return '';
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
