import { lstatSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { shareOfDescriptors } from '../base/process/descriptors.ts';
import type { SocketDirectory } from '../base/files/open-socket-directory.ts';
import type { SandboxEgress } from '../tools/sandbox/egress.ts';
import { egressLimits } from './limits.ts';
import type { EgressProxy } from './proxy.ts';

/** The proxy of one session, with the certificates and environment variables for its programs. */
export interface OpenedProxy {
  readonly proxy: EgressProxy;
  /** The workspace of the session. */
  readonly owner: string;
  /** The authorities that programs trust, as PEM, instead of the authorities of the system; undefined: no change. */
  readonly trusted?: string | undefined;
  /** Environment variables of programs in addition to the variables of the proxy. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The sockets through which programs in sandboxes reach the egress proxy: one for each session, mounted into its sandboxes only. */
export interface SessionEgresses {
  /** Opens the socket of the session if it is not open yet, and returns the settings for its sandbox. */
  open(sessionId: string, openProxy: () => Promise<OpenedProxy>): Promise<SandboxEgress>;
  /** Ends the connections of the session. */
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** Creates the sockets in a private directory. All sessions may have `connectionsMax` connections, the sessions of one owner half of that. */
export function createSessionEgresses(
  directory: SocketDirectory,
  connectionsMax: number = shareOfDescriptors(1 / 8, { min: 64, max: egressLimits.allConnectionsMax }),
): SessionEgresses {
  const open = new Map<string, Promise<Listening>>();
  let count = 0;
  let connections = 0;
  const ofOwners = new Map<string, number>();
  const ofOwnerMax = Math.ceil(connectionsMax / 2);
  // A session may open more connections than are served, so that further clients receive a refusal, but at most a quarter of all.
  const ofSessionMax = Math.min(egressLimits.connectionsMax * 2, Math.ceil(connectionsMax / 4));
  const limitConnections = (server: Server, owner: string) => {
    server.maxConnections = ofSessionMax;
    // Runs before the listener of the server itself, which would read a request.
    server.prependListener('connection', (socket) => {
      const own = ofOwners.get(owner) ?? 0;
      if (connections >= connectionsMax || own >= ofOwnerMax) return void socket.destroy();
      connections++;
      ofOwners.set(owner, own + 1);
      socket.once('close', () => {
        connections--;
        const left = ofOwners.get(owner)! - 1;
        if (left === 0) ofOwners.delete(owner);
        else ofOwners.set(owner, left);
      });
    });
  };
  const close = async (sessionId: string) => {
    const opening = open.get(sessionId);
    open.delete(sessionId);
    // A socket that could not be opened need not be closed.
    await opening?.then(stop, () => undefined);
  };
  return {
    open: async (sessionId, openProxy) => {
      const opening =
        open.get(sessionId) ??
        openProxy().then((opened) => listen(directory, toName(count++), opened, limitConnections));
      open.set(sessionId, opening);
      try {
        return (await opening).sandbox;
      } catch (error) {
        if (open.get(sessionId) === opening) open.delete(sessionId);
        throw error;
      }
    },
    close,
    closeAll: async () => {
      await Promise.all([...open.keys()].map(close));
      await directory.close();
    },
  };
}

/** Paths and the port inside of a sandbox. */
const SOCKET = '/fleetloom/egress.sock';
const TRUSTED = '/fleetloom/egress-ca.pem';
const PORT = 3128;

interface Listening {
  readonly proxy: EgressProxy;
  readonly server: Server;
  readonly files: readonly string[];
  readonly sandbox: SandboxEgress;
}

async function listen(
  directory: SocketDirectory,
  name: string,
  opened: OpenedProxy,
  limitConnections: (server: Server, owner: string) => void,
): Promise<Listening> {
  const { proxy, owner, trusted, environment } = opened;
  const parent = await directory.open();
  const [socketPath, trustedPath] = [join(parent, `${name}.sock`), join(parent, `${name}.pem`)];
  if (trusted !== undefined) await writeFile(trustedPath, trusted, { mode: 0o644 });
  const server = createServer({ maxHeaderSize: egressLimits.headerBytesMax, requestTimeout: 0 }, (request, response) =>
    proxy.handle(request, response),
  );
  server.timeout = egressLimits.idleMs;
  limitConnections(server, owner);
  // Without this listener Node would not pass CONNECT requests to the proxy.
  server.on('connect', (request, near, head) => proxy.connect(request, near as Socket, head));
  server.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o600);
  const trust = {
    readOnlyPaths: trusted === undefined ? [] : [TRUSTED, ...systemBundles()].map((at) => ({ path: trustedPath, at })),
    environment: { ...(trusted === undefined ? {} : trustVariables), ...environment },
  };
  return {
    proxy,
    server,
    files: [socketPath, trustedPath],
    sandbox: {
      socketPath: SOCKET,
      port: PORT,
      readOnlyPaths: [{ path: socketPath, at: SOCKET }, ...trust.readOnlyPaths],
      environment: { ...proxyVariables, ...trust.environment },
      trust,
    },
  };
}

function toName(count: number): string {
  return count.toString(36);
}

async function stop({ proxy, server, files }: Listening): Promise<void> {
  proxy.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await Promise.all(files.map((path) => rm(path, { force: true })));
}

const PROXY = `http://127.0.0.1:${PORT}`;
const DIRECT = '127.0.0.1,localhost,::1';
const inBothCases = (name: string, value: string) => ({ [name]: value, [name.toLowerCase()]: value });

const proxyVariables: Readonly<Record<string, string>> = {
  ...inBothCases('HTTP_PROXY', PROXY),
  ...inBothCases('HTTPS_PROXY', PROXY),
  ...inBothCases('ALL_PROXY', PROXY),
  ...inBothCases('NO_PROXY', DIRECT),
  // Node's `fetch` uses these variables only if this one is set (since 22.21).
  NODE_USE_ENV_PROXY: '1',
};

/** System files with authorities to replace, for programs that read no variable, such as Debian's wget. Links are skipped. */
function systemBundles(): string[] {
  return ['/etc/ssl/certs/ca-certificates.crt'].filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());
}

/** The variables for OpenSSL and Python, curl, requests, Node, git, pip, cargo and npm. */
const trustVariables: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'SSL_CERT_FILE',
    'CURL_CA_BUNDLE',
    'REQUESTS_CA_BUNDLE',
    'NODE_EXTRA_CA_CERTS',
    'GIT_SSL_CAINFO',
    'PIP_CERT',
    'CARGO_HTTP_CAINFO',
    // npm: overrides `cafile` of a configuration, which would override NODE_EXTRA_CA_CERTS.
    'NPM_CONFIG_CAFILE',
  ].map((name) => [name, TRUSTED]),
);
