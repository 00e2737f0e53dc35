import { signOnLimits } from './limits.ts';

/** A `fetch` for the libraries that send requests to providers. Rejects responses above the limit, because the libraries parse a body as a whole. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > signOnLimits.responseBytesMax) {
      throw new TypeError(`the response of ${new URL(url).host} has more than ${signOnLimits.responseBytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
}
