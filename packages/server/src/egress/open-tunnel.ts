import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import type { ConnectionLog, LoggedConnection } from './connection-log.ts';
import type { Interception } from './intercept-tunnel.ts';
import { egressLimits } from './limits.ts';
import { logOpened, openTarget, type OpenTargetOptions, Refusal } from './open-target.ts';
import type { RefusalReason, Target } from './policy.ts';
import { type ClientStart, readClientStart } from './read-client-start.ts';

/** A request for a tunnel, and the connection that it came on. */
export interface TunnelRequest {
  readonly request: Pick<IncomingMessage, 'url'>;
  readonly near: Socket;
  /** What the client has sent behind the request. */
  readonly head: Buffer;
  readonly signal: AbortSignal;
}

interface TunnelOptions extends OpenTargetOptions {
  readonly log: ConnectionLog;
  readonly interception?: Interception | undefined;
}

/**
 * Connects a client to a host, and checks that it begins TLS with that host and no other before anything is passed on. Throws a
 * {@link Refusal} as long as the request is not answered.
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
  // Its end has passed unseen.
  if (signal.aborted) return void far.destroy();
  near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  const start = await readClientStart(near, head, isNamedPort ? far : undefined);
  const problem = findProblem(start, target, isNamedPort);
  if (problem !== undefined) return tunnel.end(problem);
  if (isOpened && start.type === 'hello') return interception?.open({ near, far, target, used });
  near.pipe(far);
  far.pipe(near);
}

/** Finds whether the TLS of a tunnel is opened, and logs it. */
async function prepare({ interception, log }: TunnelOptions, far: Socket, target: Target) {
  const isOpened = (await interception?.appliesTo(target.host)) === true;
  return { isOpened, logged: await logOpened(log, far, target, isOpened ? 'tls' : 'tunnel') };
}

interface Watched {
  readonly logged: LoggedConnection;
  readonly used: ReadonlyMap<string, number>;
  /** Its responses are sent by the proxy, which also ends the near side. */
  readonly isOpened: boolean;
}

/** Ends both sides with each other, and logs the end. */
function watch(near: Socket, far: Socket, { logged, used, isOpened }: Watched): { end(reason: RefusalReason): void } {
  let problem: RefusalReason | undefined;
  // Both: a client need not end its side when the host has ended the other.
  for (const side of [near, far]) side.setTimeout(egressLimits.idleMs, () => (far.destroy(), near.destroy()));
  near.once('close', () => far.destroy());
  far.once('close', () => {
    // Not destroyed: what the host has sent last may still be on its way.
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

/** Why the first bytes of a client may not reach the host. */
function findProblem(start: ClientStart, { host }: Target, isNamedPort: boolean): RefusalReason | undefined {
  if (start.type === 'ended') return undefined;
  if (start.type !== 'hello') return isNamedPort ? undefined : 'not_tls';
  // With an address TLS names no server. That the address is allowed has been checked.
  if (start.serverName === undefined) return isIP(host) !== 0 ? undefined : 'server_name_differs';
  if (start.serverName.toLowerCase().replace(/\.$/, '') !== host) return 'server_name_differs';
  // The server may answer for the name that cannot be read instead.
  return start.hasEncryptedHello ? 'server_name_encrypted' : undefined;
}

/** Whether no part of a name is empty: some resolvers would leave such a part out. */
export function isName(host: string): boolean {
  return isIP(host) !== 0 || host.split('.').every((label) => label !== '');
}

/** `host:port` and nothing else. The host as a URL has it, without a dot at its end. */
export function toTarget(text: string): Target | undefined {
  const [, port] = /^(?:\[[0-9a-f:.]+\]|[^\s:/?#@[\]\\%]+):(\d{1,5})$/i.exec(text) ?? [];
  if (port === undefined || Number(port) === 0 || !URL.canParse(`http://${text}`)) return undefined;
  const { hostname } = new URL(`http://${text}`);
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isName(host) ? { host, port: Number(port) } : undefined;
}
