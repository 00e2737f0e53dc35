import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../../base/byte-collector.ts';
import { JsonGauge } from '../../../base/json-gauge.ts';
import { limits } from '../limits.ts';

export type ReadBody =
  | { type: 'body'; bytes: Uint8Array }
  | { type: 'too_large' }
  /** Nested too deep, or with too many values, to be parsed in good time. */
  | { type: 'too_complex' }
  | { type: 'gone' };

/** The body of a request, at most `bytesMax` of it. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<ReadBody> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return { type: 'too_large' };
  const collector = new ByteCollector(bytesMax);
  const gauge = new JsonGauge();
  return await new Promise((resolve) => {
    request.on('data', (chunk: Buffer) => {
      gauge.push(chunk);
      // The parser would take seconds for as many values as fit into the bytes.
      const isMeasured = gauge.values <= limits.bodyValuesMax && gauge.depth <= limits.bodyDepthMax;
      if (!collector.add(chunk)) finish({ type: 'too_large' });
      else if (!isMeasured) finish({ type: 'too_complex' });
    });
    request.on('end', () => finish({ type: 'body', bytes: collector.bytes() }));
    // Both mean the same here: nobody is left to be answered.
    request.on('error', () => finish({ type: 'gone' }));
    request.on('close', () => finish({ type: 'gone' }));

    function finish(result: ReadBody): void {
      request.removeAllListeners('data').removeAllListeners('end');
      resolve(result);
    }
  });
}
