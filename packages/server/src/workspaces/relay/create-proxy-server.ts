import { createServer, type RequestListener, type Server } from 'node:http';
import { workspaceLimits } from '../limits.ts';

/** Creates an HTTP server for git. A transfer may take any time, as long as it is not idle. */
export function createProxyServer(handle: RequestListener): Server {
  const server = createServer({ requestTimeout: 0 }, handle);
  server.timeout = workspaceLimits.gitProxyIdleMs;
  server.maxConnections = workspaceLimits.gitProxyConnectionsMax;
  return server;
}
