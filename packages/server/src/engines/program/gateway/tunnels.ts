import type { IncomingMessage } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { programLimits } from '../limits.ts';
import type { ProgramNetwork } from '../program-network.ts';

/**
 * Connections of one session to hosts that its environment allows, requested with `CONNECT`. The traffic is encrypted
 * between the program and the host: only the host is checked here.
 */
export interface Tunnels {
  /** Opens or rejects the connection. Never throws. */
  open(request: IncomingMessage, near: Duplex, head: Buffer): void;
  close(): void;
}

/** Connects a program to the hosts that its network allows. */
export function createTunnels(network: ProgramNetwork): Tunnels {
  const open = new Set<Duplex>();
  let isClosed = false;

  return {
    open: (request, near, head) => {
      near.on('error', () => near.destroy());
      if (isClosed || open.size >= programLimits.gatewayTunnelsMax) {
        return refuse(near, '503 Service Unavailable', `${programLimits.gatewayTunnelsMax} connections are open`);
      }
      const url = toTarget(request.url ?? '');
      if (url === undefined) return refuse(near, '400 Bad Request', 'Name a host and its port, as in example.com:443');
      open.add(near);
      const gone = new AbortController();
      near.once('close', () => {
        open.delete(near);
        gone.abort();
      });
      network.findHost(url, gone.signal).then(
        (addresses) => join(near, head, url, addresses),
        (error: unknown) => refuse(near, toStatus(error), error instanceof Error ? error.message : String(error)),
      );
    },
    close: () => {
      isClosed = true;
      for (const near of open) near.destroy();
    },
  };
}

function join(near: Duplex, head: Buffer, { hostname, port }: URL, addresses: readonly string[]): void {
  if (near.destroyed) return;
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const host = hostname.replace(/^\[|\]$/g, '');
  const far: Socket = connect({
    host,
    port: port === '' ? 443 : Number(port),
    // Only the checked addresses.
    lookup: (_, { all }, done) =>
      all === true ? done(null, found) : done(null, found[0]?.address ?? '', found[0]?.family ?? 4),
  }).on('error', (error) => {
    if (near.writable && !isJoined) refuse(near, '502 Bad Gateway', `${host} cannot be reached: ${error.message}`);
    else near.destroy();
  });
  let isJoined = false;
  const patience = setTimeout(() => far.destroy(new Error('it does not answer')), programLimits.gatewayConnectMs);
  near.once('close', () => far.destroy());
  far.once('close', () => {
    clearTimeout(patience);
    // Ended, not destroyed: the host's last bytes may not have reached a slow program yet.
    if (isJoined) near.end();
  });
  far.once('connect', () => {
    clearTimeout(patience);
    isJoined = true;
    near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) far.write(head);
    near.pipe(far);
    far.pipe(near);
  });
}

/** The status of an error: an unknown name is an error of the system, not a rejection by the rules. */
function toStatus(error: unknown): string {
  return error instanceof Error && 'code' in error ? '502 Bad Gateway' : '403 Forbidden';
}

/** Reads a target of the form `host:port`; undefined for any other form. */
function toTarget(text: string): URL | undefined {
  const isTarget = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+):[0-9]{1,5}$/i.test(text);
  return isTarget && URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : undefined;
}

/** Rejects a connection with a status and a reason. */
export function refuse(near: Duplex, status: string, reason: string): void {
  const body = `${reason}\n`;
  const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  near.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
}
