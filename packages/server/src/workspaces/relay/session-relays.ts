import { chmod, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';
import type { SocketDirectory } from '../../base/files/open-socket-directory.ts';
import type { SandboxGitRelay } from '../../tools/sandbox/git-relay.ts';
import { createProxyServer } from './create-proxy-server.ts';
import { createGitProxy, type GitProxyOptions, type GitRemote } from './git-proxy.ts';
import { toGitPath } from './git-request.ts';

/** A repository that the agents of a session reach through the relay. */
export interface RelayedRepository extends GitRemote {
  readonly id: string;
}

/** The sockets through which git in sandboxes reaches the git proxy: one for each session, mounted into its sandbox only. */
export interface SessionRelays {
  /** Opens the socket of the session if it is not open yet, and returns the settings for its sandbox. */
  open(sessionId: string, repositories: readonly RelayedRepository[]): Promise<SandboxGitRelay>;
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** Creates the relays with their sockets in a private directory. */
export function createSessionRelays(
  directory: SocketDirectory,
  options: Omit<GitProxyOptions, 'find' | 'onRefused'>,
): SessionRelays {
  const relays = new Map<string, Promise<Relay>>();
  let count = 0;
  const close = async (sessionId: string) => {
    const relay = relays.get(sessionId);
    relays.delete(sessionId);
    // A relay that could not be opened need not be closed.
    await relay?.then(closeRelay, () => undefined);
  };
  return {
    open: async (sessionId, repositories) => {
      const opening = relays.get(sessionId) ?? openRelay(directory, (count++).toString(36), repositories, options);
      relays.set(sessionId, opening);
      try {
        const { socketPath, configPath } = await opening;
        const readOnlyPaths = [
          { path: socketPath, at: SOCKET },
          { path: configPath, at: '/etc/gitconfig' },
        ];
        return { socketPath: SOCKET, port: PORT, readOnlyPaths };
      } catch (error) {
        if (relays.get(sessionId) === opening) relays.delete(sessionId);
        throw error;
      }
    },
    close,
    closeAll: async () => {
      await Promise.all([...relays.keys()].map(close));
      await directory.close();
    },
  };
}

/** The path and the port inside of a sandbox. */
const SOCKET = '/fleetloom/git.sock';
const PORT = 4286;

interface Relay {
  readonly server: Server;
  readonly socketPath: string;
  readonly configPath: string;
}

async function openRelay(
  directory: SocketDirectory,
  name: string,
  repositories: readonly RelayedRepository[],
  options: Omit<GitProxyOptions, 'find' | 'onRefused'>,
): Promise<Relay> {
  const parent = await directory.open();
  const [socketPath, configPath] = [join(parent, `${name}.sock`), join(parent, `${name}.conf`)];
  const byId = new Map(repositories.map((repository) => [repository.id, repository]));
  const server = createProxyServer(createGitProxy({ ...options, find: async (id) => byId.get(id) }));
  await writeFile(configPath, toConfig(repositories), { mode: 0o644 });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o600);
  return { server, socketPath, configPath };
}

/** The git configuration that redirects the URLs of the repositories to the relay. */
function toConfig(repositories: readonly RelayedRepository[]): string {
  const base = `http://127.0.0.1:${PORT}`;
  const rewrites = repositories.map(({ id, url }) => `[url "${base}${toGitPath(id)}"]\n\tinsteadOf = ${url}\n`);
  // Disables the proxy for the relay: programs in a sandbox may have a proxy in their environment that cannot reach it.
  return [
    `[http "${base}/"]\n\tproxy = ""\n`,
    '[user]\n\tname = Fleetloom\n\temail = agent@fleetloom.invalid\n',
    ...rewrites,
  ].join('');
}

async function closeRelay({ server, socketPath, configPath }: Relay): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await Promise.all([socketPath, configPath].map((path) => rm(path, { force: true })));
}
