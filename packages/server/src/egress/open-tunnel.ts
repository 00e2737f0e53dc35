import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import type { ConnectionLog, LoggedConnection } from './connection-log.ts';
import type { Interception } from './intercept-tunnel.ts';
import { egressLimits } from './limits.ts';
import { logOpened, openTarget, type OpenTargetOptions, Refusal } from './open-target.ts';
import type { RefusalReason, Target } from './policy.ts';
import { type ClientStart, readClientStart } from './read-client-start.ts';

/** A request for a tunnel, and the connection on which it arrived. */
export interface TunnelRequest {
  readonly request: Pick<IncomingMessage, 'url'>;
  readonly near: Socket;
  /** Bytes that the client has sent after the request. */
  readonly head: Buffer;
  readonly signal: AbortSignal;
}

interface TunnelOptions extends OpenTargetOptions {
  readonly log: ConnectionLog;
  readonly interception?: Interception | undefined;
}

/**
 * Connects a client to a host. Before any byte is forwarded, checks that the client begins TLS for the name of that host. Throws a
 * {@link Refusal} if it fails before the response to the CONNECT request is sent.
 */
export async function openTunnel(
  options: TunnelOptions,
  { request, near, head, signal }: TunnelRequest,
): Promise<void> {
  const target = toTarget(request.url ?? '');
  if (target === undefined) {
    const message = 'name a host and its port, as in CONNECT example.com:443';
    throw new Refusal('request_not_understood', message, 400);
  }
  const { far, isNamedPort } = await openTarget(options, target, signal);
  const { interception } = options;
  const { isOpened, logged } = await prepare(options, far, target).catch((error: unknown) => {
    far.destroy();
    throw error;
  });
  const used = new Map<string, number>();
  const tunnel = watch(near, far, { logged, used, isOpened });
  // The client left before a listener for it was registered.
  if (signal.aborted) return void far.destroy();
  near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  const start = await readClientStart(near, head, isNamedPort ? far : undefined);
  const problem = findProblem(start, target, isNamedPort);
  if (problem !== undefined) return tunnel.end(problem);
  if (isOpened && start.type === 'hello') return interception?.open({ near, far, target, used });
  near.pipe(far);
  far.pipe(near);
}

/** Determines whether the TLS of a tunnel is decrypted, and logs the connection. */
async function prepare({ interception, log }: TunnelOptions, far: Socket, target: Target) {
  const isOpened = (await interception?.appliesTo(target.host)) === true;
  return { isOpened, logged: await logOpened(log, far, target, isOpened ? 'tls' : 'tunnel') };
}

interface Watched {
  readonly logged: LoggedConnection;
  readonly used: ReadonlyMap<string, number>;
  /** Whether the TLS is decrypted: then the proxy sends the responses and ends the near side. */
  readonly isOpened: boolean;
}

/** Ends each side when the other one ends, and logs the end. */
function watch(near: Socket, far: Socket, { logged, used, isOpened }: Watched): { end(reason: RefusalReason): void } {
  let problem: RefusalReason | undefined;
  // Both sides have a timer: a client may keep its side open after the host has ended the other one.
  for (const side of [near, far]) side.setTimeout(egressLimits.idleMs, () => (far.destroy(), near.destroy()));
  near.once('close', () => far.destroy());
  far.once('close', () => {
    // Ended, not destroyed: the last bytes of the host may not have been delivered yet.
    if (!isOpened) near.end();
    const { bytesWritten: bytesSent, bytesRead: bytesReceived } = far;
    logged.close({ bytesSent, bytesReceived, credentials: used, reason: problem });
  });
  return {
    end: (reason) => {
      problem = reason;
      near.destroy();
      far.destroy();
    },
  };
}

/** Why the first bytes of a client are not forwarded to the host; undefined if they are. */
function findProblem(start: ClientStart, { host }: Target, isNamedPort: boolean): RefusalReason | undefined {
  if (start.type === 'ended') return undefined;
  if (start.type !== 'hello') return isNamedPort ? undefined : 'not_tls';
  // TLS to an address has no server name. The policy has already allowed the address.
  if (start.serverName === undefined) return isIP(host) !== 0 ? undefined : 'server_name_differs';
  if (start.serverName.toLowerCase().replace(/\.$/, '') !== host) return 'server_name_differs';
  // The server may respond for the encrypted name, which cannot be checked.
  return start.hasEncryptedHello ? 'server_name_encrypted' : undefined;
}

/** Whether a host is an address, or a name without empty labels, which some resolvers would skip. */
export function isName(host: string): boolean {
  return isIP(host) !== 0 || host.split('.').every((label) => label !== '');
}

/** Parses `host:port`; undefined for any other text. The host is normalised as in a URL, without a trailing dot. */
export function toTarget(text: string): Target | undefined {
  const [, port] = /^(?:\[[0-9a-f:.]+\]|[^\s:/?#@[\]\\%]+):(\d{1,5})$/i.exec(text) ?? [];
  if (port === undefined || Number(port) === 0 || !URL.canParse(`http://${text}`)) return undefined;
  const { hostname } = new URL(`http://${text}`);
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isName(host) ? { host, port: Number(port) } : undefined;
}
