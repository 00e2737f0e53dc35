import { isUtf8 } from 'node:buffer';

/**
 * A path in the workspace, one character (0 to 255) for each byte. File names may have any bytes, and as a string a
 * path can be compared and used as the key of a map.
 */
export type BytePath = string;

/** The text of a path for people and programs. A byte that is not UTF-8 is written `\xff`; no two paths have the same text. */
export function toPathText(path: BytePath): string {
  const bytes = Buffer.from(path, 'latin1');
  const text = bytes.toString('utf8');
  if (isUtf8(bytes) && !ESCAPE.test(text)) return text;
  return [...splitText(bytes)].join('');
}

/** The path that has this text: the reverse of {@link toPathText}. */
export function toBytePath(text: string): BytePath {
  const parts = text.split(ESCAPES);
  const bytes = parts.map((part, at) =>
    at % 2 === 1 ? Buffer.from([Number.parseInt(part.slice(2), 16)]) : Buffer.from(part),
  );
  return Buffer.concat(bytes).toString('latin1');
}

/** The bytes of a path, for functions of the file system. */
export function toPathBytes(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

const ESCAPE = /\\x[0-9a-f]{2}/;
/** The same pattern with a group, so that `split` keeps the escapes. */
const ESCAPES = /(\\x[0-9a-f]{2})/;

/** Yields characters unchanged, and backslashes and bytes that are not valid UTF-8 as escapes. */
function* splitText(bytes: Buffer): Iterable<string> {
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find((count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)));
    const part = bytes.subarray(at, at + (length ?? 1));
    yield length === undefined || part[0] === BACKSLASH ? `\\x${part.toString('hex')}` : part.toString('utf8');
    at += part.length;
  }
}

const BACKSLASH = 0x5c;
