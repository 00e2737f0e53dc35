import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createProxyServer } from './create-proxy-server.ts';
import { createGitProxy, type GitProxyOptions } from './git-proxy.ts';
import { toGitPath } from './git-request.ts';

/** A git proxy on a loopback port for one clone. */
export interface CloneListener {
  /** The git configuration that redirects requests for the repository to this listener. It does not contain the repository's token. */
  toConfig(resourceId: string, url: string): string;
  close(): Promise<void>;
}

/** Listens on loopback. Other users of the machine can find the port, but not the secret that git sends in a header. */
export async function openCloneListener(options: Omit<GitProxyOptions, 'push'>): Promise<CloneListener> {
  const secret = Buffer.from(randomBytes(SECRET_BYTES).toString('hex'));
  const proxy = createGitProxy({ ...options, push: 'none' });
  const server = createProxyServer((request, response) => {
    const given = Buffer.from(String(request.headers[HEADER] ?? ''));
    if (given.length === secret.length && timingSafeEqual(given, secret)) proxy(request, response);
    else response.writeHead(403, { connection: 'close' }).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(0, '127.0.0.1', resolve);
  });
  // The address of a TCP server is an `AddressInfo`.
  const { port } = server.address() as AddressInfo;
  return {
    toConfig: (resourceId, url) =>
      [
        `[url "http://127.0.0.1:${port}${toGitPath(resourceId)}"]`,
        `\tinsteadOf = ${url}`,
        '[http]',
        `\textraHeader = ${HEADER}: ${secret.toString()}`,
        '\tfollowRedirects = false',
        '',
      ].join('\n'),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const SECRET_BYTES = 32;
const HEADER = 'x-fleetloom-clone';
