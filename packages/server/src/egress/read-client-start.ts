import type { Socket } from 'node:net';
import { type FirstBytes, HELLO_BYTES_MAX, readClientHello } from './client-hello.ts';
import { egressLimits } from './limits.ts';

/** The first bytes of a client. `ended`: a side has closed. `late`: the client sent nothing in time. `server_first`: the host sent bytes first. */
export type ClientStart =
  | Extract<FirstBytes, { type: 'hello' }>
  | { readonly type: 'other' | 'ended' | 'late' | 'server_first' };

/**
 * Reads the first bytes of a client and puts them back, so that the next reader receives all bytes. With `far` other protocols are
 * expected too: in some of them the host speaks first, and there is no time limit.
 */
export async function readClientStart(near: Socket, head: Buffer, far?: Socket): Promise<ClientStart> {
  const chunks: Buffer[] = [];
  let size = 0;
  /** The number of bytes from which parsing is tried again: a client may send its bytes one by one. */
  let wanted = 0;
  return await new Promise((resolve) => {
    const finish = (start: ClientStart) => {
      clearTimeout(patience);
      near.off('data', take).off('close', onEnd).off('end', onEnd);
      far?.off('data', takeFar);
      near.pause();
      if (size > 0) near.unshift(Buffer.concat(chunks));
      resolve(start);
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > HELLO_BYTES_MAX * 2) return finish({ type: 'other' });
      if (size < wanted) return;
      const first = readClientHello(Buffer.concat(chunks));
      if (first.type !== 'incomplete') return finish(first);
      wanted = size + first.missing;
    };
    const takeFar = (chunk: Buffer) => {
      far?.pause();
      far?.unshift(chunk);
      finish({ type: 'server_first' });
    };
    const onEnd = () => finish({ type: 'ended' });
    const patience = far === undefined ? setTimeout(() => finish({ type: 'late' }), egressLimits.helloMs) : undefined;
    near.on('close', onEnd).on('end', onEnd).on('data', take);
    far?.on('data', takeFar);
    if (head.length > 0) take(head);
  });
}
