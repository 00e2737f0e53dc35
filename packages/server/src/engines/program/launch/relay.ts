import type { Socket } from 'node:net';
import type { ProgramRelay } from '../program-sandbox.ts';

/** The port of the relay in the sandbox. The sandbox has a loopback interface of its own, so the port is always free. */
export const RELAY_PORT = 4285;

/** The line that makes the relay end the program, written to its fourth descriptor. */
export const TERMINATE = 'terminate\n';

/** The line that makes the relay connect a port inside to a socket: this server reaches a listening program in this way. */
export function toDialOrder(port: number, socketPath: string): string {
  return `dial ${port} ${socketPath}\n`;
}

/** The program and the connections of a relay. */
export interface RelayRequest {
  /** The Node that runs the relay. */
  readonly node: string;
  /** The gateway's socket, as the sandbox shows it. */
  readonly socketPath: string;
  readonly program: string;
  readonly args: readonly string[];
  /** The port of the relay, by default {@link RELAY_PORT}. */
  readonly port?: number | undefined;
  /** Further sockets that the program reaches on loopback. */
  readonly others?: readonly ProgramRelay[] | undefined;
}

/** The command that starts a program under the relay. */
export function toRelay(request: RelayRequest): { readonly program: string; readonly args: readonly string[] } {
  const { node, socketPath, program, args, port = RELAY_PORT, others = [] } = request;
  const code = `(${runRelay.toString()})()`;
  // The relay needs little memory: it holds a few connections and nothing else.
  const small = ['--max-old-space-size=64', '--no-warnings'];
  return {
    program: node,
    args: [...small, '-e', code, '--', JSON.stringify(others), socketPath, String(port), program, ...args],
  };
}

/**
 * The first program of a sandbox without a network: accepts connections on loopback inside, forwards each to the gateway's
 * socket, and runs the program as its child with its own standard streams, and exits with the child's exit code.
 *
 * The function is passed on as text, because a sandbox does not see the files of this server, and sources, builds and bundles do not share a file
 * name. So it must not use anything from outside its own body.
 */
function runRelay(): void {
  const net = process.getBuiltinModule('node:net');
  const { spawn } = process.getBuiltinModule('node:child_process');
  const [others = '', socketPath = '', port = '', program = '', ...args] = process.argv.slice(1);
  // The server has written this JSON.
  const ways = [{ socketPath, port: Number(port) }, ...(JSON.parse(others) as { socketPath: string; port: number }[])];
  const fail = (what: string) => (error: Error) => {
    process.stderr.write(`${what}: ${error.message}\n`);
    process.exit(1);
  };

  /** Joins two connections. If one side fails or closes, the other is closed too; a side that has ended its output may still receive. */
  const join = (near: Socket, path: string) => {
    const far = net.connect({ path, allowHalfOpen: true });
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    // With `end` a pipe looks at process.stdout, which makes the standard streams that the program shares non-blocking:
    // a program that does not expect it loses output as soon as its reader is slow.
    near.pipe(far, { end: false });
    far.pipe(near, { end: false });
    near.on('end', () => far.end());
    far.on('end', () => near.end());
  };

  const start = () => {
    const child = spawn(program, args, { stdio: 'inherit' }).on('error', fail(`${program} cannot be started`));
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
    // Orders of the server. The end of the stream means that the server has ended.
    const orders = new net.Socket({ fd: 3, readable: true, writable: false });
    let order = '';
    orders.setEncoding('utf8').on('data', (text: string) => {
      const lines = (order + text).split('\n');
      order = lines.pop() ?? '';
      for (const line of lines) {
        const [verb, inside, ...path] = line.split(' ');
        if (verb === 'dial')
          join(net.connect({ port: Number(inside), host: '127.0.0.1', allowHalfOpen: true }), path.join(' '));
        else child.kill('SIGTERM');
      }
    });
    orders.on('end', () => child.kill('SIGKILL')).on('error', () => child.kill('SIGKILL'));
    child.on('exit', (code, signal) => {
      // Exits with 128 + signal, as shells do: with a signal the relay would end before the sandbox could report it.
      const number = signal === null ? 0 : (process.getBuiltinModule('node:os').constants.signals[signal] ?? 0);
      process.exit(code ?? 128 + number);
    });
  };

  let waiting = ways.length;
  for (const way of ways) {
    net
      .createServer({ allowHalfOpen: true }, (near) => join(near, way.socketPath))
      .on('error', fail('the relay of the sandbox cannot listen'))
      .listen(way.port, '127.0.0.1', () => {
        waiting -= 1;
        if (waiting === 0) start();
      });
  }
}
