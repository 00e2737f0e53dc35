import type { Socket } from 'node:net';
import { type FirstBytes, HELLO_BYTES_MAX, readClientHello } from './client-hello.ts';
import { egressLimits } from './limits.ts';

/** `ended`: one of the sides has gone. `late`: nothing came in time. `server_first`: the host has sent something before the client. */
export type ClientStart =
  | Exclude<FirstBytes, { type: 'incomplete' | 'other' }>
  | { readonly type: 'other' | 'ended' | 'late' | 'server_first' };

/**
 * Reads how a client begins and puts it back, so that the next reader finds everything. With `far` other protocols are
 * expected too: in some of them the host speaks first, and there is no time limit.
 */
export async function readClientStart(near: Socket, head: Buffer, far?: Socket): Promise<ClientStart> {
  let bytes = Buffer.alloc(0);
  return await new Promise((resolve) => {
    const finish = (start: ClientStart) => {
      clearTimeout(patience);
      near.off('data', take).off('close', onEnd).off('end', onEnd);
      far?.off('data', takeFar);
      near.pause();
      if (bytes.length > 0) near.unshift(bytes);
      resolve(start);
    };
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const first = readClientHello(bytes);
      if (first.type === 'hello' || first.type === 'other') finish(first as ClientStart);
      else if (bytes.length > HELLO_BYTES_MAX * 2) finish({ type: 'other' });
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
