import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RoundRobin {
  readonly url: string;
  /** Sets the servers that get requests in turn. */
  setTargets(urls: readonly string[]): void;
  close(): Promise<void>;
}

/**
 * An ordinary load balancer: each request goes to the next server, whichever the client used before. A server
 * that cannot be reached is skipped; an incomplete answer is incomplete for the client too.
 */
export async function startRoundRobin(urls: readonly string[]): Promise<RoundRobin> {
  let targets = [...urls];
  let next = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0 }, (incoming, outgoing) => {
    // The body so far, to send it again to another server if this one cannot be reached.
    const body: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => body.push(chunk));
    pass(incoming, outgoing, body, targets.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    setTargets: (all) => {
      targets = [...all];
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };

  function pass(incoming: IncomingMessage, outgoing: ServerResponse, body: readonly Buffer[], triesLeft: number): void {
    const target = targets[next++ % targets.length];
    if (target === undefined) return void outgoing.writeHead(502).end();
    const { method, url: path, headers } = incoming;
    const { hostname, port: targetPort } = new URL(target);
    let isConnected = false;
    const upstream = request({ agent, hostname, port: targetPort, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
      answer.on('close', () => answer.complete || outgoing.destroy());
    });
    upstream.setNoDelay(true);
    upstream.on('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => (isConnected = true));
      else isConnected = true;
    });
    upstream.on('error', () => {
      if (outgoing.headersSent) return void outgoing.destroy();
      if (!isConnected && triesLeft > 1) return pass(incoming, outgoing, body, triesLeft - 1);
      outgoing.writeHead(502, { 'content-type': 'application/json', connection: 'close' });
      outgoing.end('{"type":"error","error":{"type":"api_error","message":"no server can be reached"}}');
    });
    outgoing.on('close', () => upstream.destroy());
    for (const chunk of body) upstream.write(chunk);
    if (incoming.readableEnded) upstream.end();
    else incoming.pipe(upstream);
  }
}
