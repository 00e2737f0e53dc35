/** Where the relay listens, inside. The sandbox has a loopback of its own, so the port is always free. */
export const RELAY_PORT = 4285;

/** Tells the relay, through its fourth descriptor, to end the program. */
export const TERMINATE = 'terminate\n';

export interface RelayRequest {
  /** The Node that runs the relay. */
  readonly node: string;
  /** The gateway's socket, as the sandbox shows it. */
  readonly socketPath: string;
  readonly program: string;
  readonly args: readonly string[];
  /** By default {@link RELAY_PORT}. */
  readonly port?: number | undefined;
}

/** How to start a program behind the relay. */
export function toRelay(request: RelayRequest): { readonly program: string; readonly args: readonly string[] } {
  const { node, socketPath, program, args, port = RELAY_PORT } = request;
  const code = `(${runRelay.toString()})()`;
  // It holds a few connections and nothing else.
  const small = ['--max-old-space-size=64', '--no-warnings'];
  return { program: node, args: [...small, '-e', code, '--', socketPath, String(port), program, ...args] };
}

/**
 * The first program of a sandbox that has no network: takes connections on loopback inside, hands each to the gateway's
 * socket, and runs the claude program as its child, which has its standard streams and gives it its exit code.
 *
 * It is handed over as text, because a sandbox does not see our files, and sources, builds and bundles have none of the
 * same name. So it may use nothing from outside of its own braces.
 */
function runRelay(): void {
  const net = process.getBuiltinModule('node:net');
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [socketPath = '', port = '', program = '', ...args] = process.argv.slice(1);
  const fail = (what: string) => (error: Error) => {
    process.stderr.write(`${what}: ${error.message}\n`);
    process.exit(1);
  };

  net
    .createServer({ allowHalfOpen: true }, (near) => {
      const far = net.connect({ path: socketPath, allowHalfOpen: true });
      // One side that breaks or is gone takes the other one with it; one that has said everything may still listen.
      near.on('error', () => far.destroy()).on('close', () => far.destroy());
      far.on('error', () => near.destroy()).on('close', () => near.destroy());
      near.pipe(far);
      far.pipe(near);
    })
    .on('error', fail('the relay of the sandbox cannot listen'))
    .listen(Number(port), '127.0.0.1', () => {
      const child = spawn(program, args, { stdio: 'inherit' }).on('error', fail(`${program} cannot be started`));
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
      // The server's word, or its end.
      const orders = new net.Socket({ fd: 3, readable: true, writable: false });
      orders.on('data', () => child.kill('SIGTERM'));
      orders.on('end', () => child.kill('SIGKILL')).on('error', () => child.kill('SIGKILL'));
      child.on('exit', (code, signal) => {
        // As the shell says it; a signal that this process sent itself would end it before the sandbox could tell.
        const number = signal === null ? 0 : (process.getBuiltinModule('node:os').constants.signals[signal] ?? 0);
        process.exit(code ?? 128 + number);
      });
    });
}
