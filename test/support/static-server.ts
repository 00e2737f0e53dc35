import { onTestFinished } from 'vitest';
import { serve } from './http-server.ts';

export type Files = Record<string, string | Uint8Array>;

/** Serves these files, by their path from `/`, until the test is over, in small pieces, so that a reader cannot rely on large ones. */
export async function serveFiles(files: Files): Promise<string> {
  const server = await serve((request, response) => {
    const path = new URL(request.url ?? '', 'http://localhost').pathname;
    const content = files[path];
    if (content === undefined) return void response.writeHead(404).end(`there is no ${path}`);
    response.writeHead(200, { 'content-type': types[path.replace(/^.*\./, '')] ?? 'application/octet-stream' });
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) response.write(bytes.subarray(at, at + PIECE_BYTES));
    response.end();
  });
  onTestFinished(server.close);
  return server.origin;
}

const PIECE_BYTES = 1_000;

const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };
