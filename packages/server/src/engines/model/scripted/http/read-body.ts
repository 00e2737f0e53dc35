import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../../../base/json/byte-collector.ts';
import { JsonGauge } from '../../../../base/json/json-gauge.ts';
import { limits } from '../limits.ts';

/** The body of a request, or why it was not read. */
export type ReadBody =
  | { type: 'body'; bytes: Uint8Array }
  | { type: 'too_large' }
  /** The body is nested too deep, or has too many values, to be parsed quickly. */
  | { type: 'too_complex' }
  /** The server holds too many bytes of bodies. */
  | { type: 'no_room'; reason: string }
  | { type: 'gone' };

/** Counts the bytes of a body while it is held in memory. Both functions return an error when there is no room for more. */
export interface BodyRoom {
  admit(bytes: number): Error | undefined;
  add(bytes: number): Error | undefined;
}

/** The body of a request, at most `bytesMax` of it. */
export async function readBody(request: IncomingMessage, bytesMax: number, room?: BodyRoom): Promise<ReadBody> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > bytesMax) return { type: 'too_large' };
  const refusal = room?.admit(announced);
  if (refusal !== undefined) return { type: 'no_room', reason: refusal.message };
  const collector = new ByteCollector(bytesMax);
  const gauge = new JsonGauge();
  return await new Promise((resolve) => {
    request.on('data', (chunk: Buffer) => {
      gauge.push(chunk);
      // Parsing as many values as fit into the bytes would take seconds.
      const isMeasured = gauge.values <= limits.bodyValuesMax && gauge.depth <= limits.bodyDepthMax;
      const refused = room?.add(chunk.length);
      if (refused !== undefined) finish({ type: 'no_room', reason: refused.message });
      else if (!collector.add(chunk)) finish({ type: 'too_large' });
      else if (!isMeasured) finish({ type: 'too_complex' });
    });
    request.on('end', () => finish({ type: 'body', bytes: collector.bytes() }));
    // Both events mean that the client has left.
    request.on('error', () => finish({ type: 'gone' }));
    request.on('close', () => finish({ type: 'gone' }));

    function finish(result: ReadBody): void {
      request.removeAllListeners('data').removeAllListeners('end');
      resolve(result);
    }
  });
}
