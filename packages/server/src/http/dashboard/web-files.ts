import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface WebFile {
  readonly bytes: Buffer;
  /** Where it is much smaller. */
  readonly zipped: Buffer | undefined;
  readonly type: string;
  readonly etag: string;
  /** Its name changes with its content, so it can be kept for ever. */
  readonly isHashed: boolean;
}

/** By path, `/index.html` for example. */
export type WebFiles = ReadonlyMap<string, WebFile>;

/** All files below a directory, in memory: they are few, and nothing that a client sends becomes a path of ours. */
export async function openWebFiles(directory: string): Promise<WebFiles | undefined> {
  if (!existsSync(join(directory, 'index.html'))) return undefined;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(paths.map(async (path) => [toUrlPath(directory, path), await read(path)] as const));
  return new Map(files);
}

/** Beside what was compiled; from the sources, where the last build has put it. */
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
};
