import type { IncomingMessage } from 'node:http';

export type ReadBody = { type: 'body'; text: string } | { type: 'too_large' } | { type: 'no_text' } | { type: 'gone' };

/** The body of a request as text, at most `bytesMax` of it. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<ReadBody> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return { type: 'too_large' };
  const chunks: Buffer[] = [];
  let bytes = 0;
  return await new Promise((resolve) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) return finish({ type: 'too_large' });
      chunks.push(chunk);
    });
    request.on('end', () => finish(decode(Buffer.concat(chunks))));
    // Both mean the same here: nobody is left to be answered.
    request.on('error', () => finish({ type: 'gone' }));
    request.on('close', () => finish({ type: 'gone' }));

    function finish(result: ReadBody): void {
      request.removeAllListeners('data').removeAllListeners('end');
      chunks.length = 0;
      resolve(result);
    }
  });
}

function decode(bytes: Buffer): ReadBody {
  try {
    return { type: 'body', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    // The only thing it can say is that these bytes are no UTF-8, which is what this result says.
    return { type: 'no_text' };
  }
}
