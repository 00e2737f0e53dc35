import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A built file of the dashboard, in memory. */
export interface WebFile {
  readonly bytes: Buffer;
  /** The content compressed with gzip; undefined if that saves little. */
  readonly zipped: Buffer | undefined;
  readonly type: string;
  readonly etag: string;
  /** Whether the name contains a hash of the content, so that clients may cache it forever. */
  readonly isHashed: boolean;
}

/** The built files by path, such as `/index.html`. */
export type WebFiles = ReadonlyMap<string, WebFile>;

/** Reads all files below a directory into memory: they are few, and no path of a client reaches the file system. */
export async function openWebFiles(directory: string): Promise<WebFiles | undefined> {
  if (!existsSync(join(directory, 'index.html'))) return undefined;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(paths.map(async (path) => [toUrlPath(directory, path), await read(path)] as const));
  return new Map(files);
}

/** The directory beside the compiled code; when running from source, the output of the last build. */
export function findWebDirectory(): string {
  const packed = join(import.meta.dirname, '..', '..', 'web');
  return existsSync(packed) ? packed : join(import.meta.dirname, '..', '..', '..', 'dist', 'web');
}

function toUrlPath(directory: string, path: string): string {
  return `/${relative(directory, path).split(sep).join('/')}`;
}

async function read(path: string): Promise<WebFile> {
  const bytes = await readFile(path);
  const zipped = await promisify(gzip)(bytes);
  return {
    bytes,
    zipped: zipped.length < bytes.length * 0.9 ? zipped : undefined,
    type: types[extname(path)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    isHashed: path.split(sep).includes('assets'),
  };
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};
