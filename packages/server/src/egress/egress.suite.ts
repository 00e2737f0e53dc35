import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import { onTestFinished } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { openSocketDirectory } from '../base/files/open-socket-directory.ts';
import type { EgressEntry } from '../frames/egress-entry.ts';
import type { SandboxEgress } from '../tools/sandbox/egress.ts';
import { type Authority, createAuthority } from './authority.ts';
import { createConnectionLog } from './connection-log.ts';
import type { Dial } from './open-target.ts';
import { createEgressPolicy, type EgressPolicyOptions } from './policy.ts';
import { createEgressProxy, type EgressProxyOptions } from './proxy.ts';
import { createSessionEgresses } from './session-egresses.ts';

/** A public address. The tests never connect to it: connections to it are redirected to servers of the tests. */
export const PUBLIC = '93.184.216.34';

/** The authority that has signed the certificates of the hosts of these tests. */
export const world: Authority = createAuthority();

/** A request as a host has received it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A host of the internet of a test. */
export interface Origin {
  readonly port: number;
  readonly seen: SeenRequest[];
}

/** `name`: the host name; such a host is reached by https. `address`: the address of this machine at which it listens. */
export interface OriginOptions {
  readonly name?: string;
  readonly issuer?: Authority;
  readonly address?: string;
}

/** Starts a host that answers `hello` unless the test says otherwise; by https if it has a name. */
export async function openOrigin(
  { name, issuer = world, address }: OriginOptions = {},
  answer: RequestListener = (_, response) => void response.end('hello'),
): Promise<Origin> {
  const seen: SeenRequest[] = [];
  const listener: RequestListener = (request, response) => {
    const { method = '', url = '', headers, rawHeaders } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  };
  const server = name === undefined ? createServer(listener) : createSecureServer(issuer.issue(name), listener);
  return { port: await listen(server, address), seen };
}

/** Starts a host of another protocol. */
export async function openTcpOrigin(onConnection: (socket: Socket) => void): Promise<number> {
  return await listen(createTcpServer((socket) => onConnection(socket.on('error', () => socket.destroy()))));
}

async function listen(server: Server & { closeAllConnections?: () => void }, address = '127.0.0.1'): Promise<number> {
  server.listen(0, address);
  await once(server, 'listening');
  onTestFinished(() => void (server.closeAllConnections?.(), server.close()));
  return (server.address() as AddressInfo).port;
}

export interface BenchOptions extends Partial<Omit<EgressPolicyOptions, 'networking'>> {
  readonly networking?: Networking;
  /** The addresses of a name; by default {@link PUBLIC}. */
  readonly resolve?: (name: string) => readonly string[];
  /** The port of this machine that stands for a host and port. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly allowedPrivateHosts?: readonly string[];
  readonly more?: Partial<EgressProxyOptions>;
  readonly trusted?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The proxy of a session, reached through its socket as from a sandbox. */
export interface EgressBench {
  readonly sandbox: SandboxEgress;
  /** The socket outside of the sandbox. */
  readonly socketPath: string;
  readonly entries: EgressEntry[];
  readonly dialled: string[];
  readonly problems: unknown[];
  close(): Promise<void>;
}

export function limited(...allowed_hosts: string[]): Extract<Networking, { type: 'limited' }> {
  return { type: 'limited', allowed_hosts, allow_mcp_servers: false, allow_package_managers: false };
}

/** Opens the proxy of a session before the hosts of a test. */
export async function openEgressBench(options: BenchOptions = {}): Promise<EgressBench> {
  const { networking = limited('a.example'), resolve = () => [PUBLIC], ports = {}, allowedPrivateHosts = [] } = options;
  const [entries, dialled, problems]: [EgressEntry[], string[], unknown[]] = [[], [], []];
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-egress-')));
  const egresses = createSessionEgresses(openSocketDirectory(join(root, 'sockets')));
  const dial: Dial = ({ host, port }, addresses) => {
    dialled.push(`${host}:${port} ${addresses.join(' ')}`);
    return connect(ports[`${host}:${port}`] ?? port, '127.0.0.1');
  };
  let ids = 0;
  const log = createConnectionLog({
    write: async (written) => void entries.push(...written),
    clock: systemClock,
    nextId: () => `egrs_${++ids}`,
    onProblem: (problem) => problems.push(problem),
  });
  const sandbox = await egresses.open('sesn_1', async () => ({
    proxy: createEgressProxy({
      policy: createEgressPolicy({ networking, ...options }),
      resolveHost: async (name) => resolve(name),
      allowedPrivateHosts,
      dial,
      log,
      onProblem: (problem) => problems.push(problem),
      ...options.more,
    }),
    owner: 'wrkspc_1',
    trusted: options.trusted,
    environment: options.environment ?? {},
  }));
  const close = async () => {
    await egresses.closeAll();
    rmSync(root, { recursive: true, force: true });
  };
  onTestFinished(close);
  return { sandbox, socketPath: sandbox.readOnlyPaths[0]!.path, entries, dialled, problems, close };
}

/** Sends bytes to the proxy and returns its response: all of it, or up to the end of the headers of a tunnel. */
export async function sendRaw(
  { socketPath }: Pick<EgressBench, 'socketPath'>,
  text: string | Buffer,
  behind?: string | Buffer,
): Promise<{ readonly text: string; readonly status: number; readonly socket: Socket }> {
  const socket = connect({ path: socketPath });
  let received = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.write(text);
  await new Promise<void>((resolve) => {
    const take = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const head = 'HTTP/1.1 200 Connection Established\r\n\r\n';
      if (received.toString('latin1').startsWith(head)) {
        socket.off('data', take);
        socket.pause();
        if (received.length > head.length) socket.unshift(received.subarray(head.length));
        resolve();
      }
    };
    socket.on('data', take);
    socket.once('close', () => resolve());
    socket.setTimeout(8_000, () => socket.destroy());
  });
  if (behind !== undefined) socket.write(behind);
  const answer = received.toString();
  return { text: answer, status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), socket };
}

/** Reads from a tunnel until it is closed. */
export async function readRest(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
  if (!socket.destroyed) await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}
