import { connect, createServer } from 'node:net';

/** Connects a port of loopback in the sandbox, which has no other network, to a socket of the server. Resolves when it listens. */
export async function relayToSocket(socketPath: string, port: number): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: socketPath, allowHalfOpen: true });
    // If one side fails or closes, the other one is closed too. A side that has sent everything may still receive.
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
}
