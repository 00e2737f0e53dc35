import { createServer, type RequestListener, type Server } from 'node:http';
import { workspaceLimits } from '../limits.ts';

/** An HTTP server for git: a transfer may take as long as bytes pass. */
export function createProxyServer(handle: RequestListener): Server {
  const server = createServer({ requestTimeout: 0 }, handle);
  server.timeout = workspaceLimits.gitProxyIdleMs;
  server.maxConnections = workspaceLimits.gitProxyConnectionsMax;
  return server;
}
