import type { IncomingMessage } from 'node:http';
import { limits } from '../../base/limits.ts';
import { doorError } from '../door-error.ts';

/** The bytes of a body. What is too large is refused as soon as that is known, and not read to its end. */
export async function readBody(request: IncomingMessage, bytesMax: number = limits.bodyBytesMax): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw doorError('unsupported_encoding', `the body is encoded with ${encoding}`);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let bytes = 0;
  return await new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) return finish(() => reject(tooLarge(bytesMax)));
      chunks.push(chunk);
    };
    const onEnd = () => finish(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    // Nobody is left to be answered, but whoever waits here has to go on.
    const onGone = () => finish(() => reject(new ClientGone()));
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);

    function finish(settle: () => void): void {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      // An error that comes later would have nobody to hear it, and end the process.
      request.on('error', () => {});
      settle();
      chunks.length = 0;
    }
  });
}

/** The client went away before it had sent everything. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What the body says. An empty one counts as an empty object, whatever its type: `archive` is sent like that. */
export function parseBody(body: Uint8Array): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(utf8.decode(body));
  } catch (cause) {
    const problem = cause instanceof SyntaxError ? 'the body is no JSON' : 'the body is no UTF-8';
    // Where it breaks is not said: Node's words for it differ between versions and repeat what was sent.
    throw doorError('invalid_json', problem, { cause });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function tooLarge(bytesMax: number) {
  return doorError('body_too_large', `the body has more than the ${bytesMax} bytes that are allowed`);
}
