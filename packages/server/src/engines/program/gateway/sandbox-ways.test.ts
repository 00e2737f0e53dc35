import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { programLimits } from '../limits.ts';
import { ask, nowhere, readAll, serveEndpoint } from './gateway.suite.ts';
import { type Gateway, type GatewaySession, type GatewaySessionOptions, openGateway } from './gateway.ts';
import type { ProgramNetwork } from '../program-network.ts';

const local: ProgramNetwork = {
  findMcpServer: async ({ hostname }) => (hostname === 'mcp.example' ? ['127.0.0.1'] : Promise.reject(new Error('no'))),
  findHost: async ({ hostname }) =>
    hostname === 'open.example' ? ['127.0.0.1'] : Promise.reject(new Error(`${hostname} is closed`)),
};

async function openSockets(): Promise<{ gateway: Gateway; directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-sockets-'));
  const gateway = await openGateway({ sockets: { directory, port: 4285 } });
  onTestFinished(async () => {
    await gateway.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { gateway, directory };
}

async function openSession(gateway: Gateway, changes: Partial<GatewaySessionOptions> = {}): Promise<GatewaySession> {
  const upstream = await serveEndpoint((request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  return gateway.open({ ...nowhere, network: local, upstream, onEvent: () => {}, ...changes });
}

describe('the socket of a session', () => {
  it('[J193] belongs to one session: the secret of another session is refused, and other users of the machine cannot open it', async () => {
    const { gateway, directory } = await openSockets();
    const [one, other] = [await openSession(gateway), await openSession(gateway)];
    expect(one.socketPath).not.toBe(other.socketPath);
    expect((await ask(one)).statusCode).toBe(200);
    const crossed = await ask({ ...one, baseURL: other.baseURL });
    expect(crossed.statusCode).toBe(401);
    expect(await readdir(directory)).toHaveLength(2);
    one.close();
    await vi.waitFor(() => expect(existsSync(one.socketPath!)).toBe(false), 20_000);
    expect((await ask(other)).statusCode).toBe(200);
  });
});

it('[J193] so many connections to a socket are open at a time; one more is closed, and another session does not notice', async () => {
  const { gateway } = await openSockets();
  const [one, other] = [await openSession(gateway), await openSession(gateway)];
  const sockets = Array.from({ length: programLimits.gatewaySocketConnectionsMax }, () => connect(one.socketPath!));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const late = connect(one.socketPath!).on('error', () => undefined);
  await once(late, 'close');
  expect((await ask(other)).statusCode).toBe(200);
  sockets.pop()?.destroy();
  await vi.waitFor(async () => expect((await ask(one)).statusCode).toBe(200), 20_000);
});

describe('the MCP servers of a session', () => {
  it('[J194] are reached under a path of their own, at exactly their address, with GET, POST and DELETE', async () => {
    const seen: string[] = [];
    const port = await serve((request, response) => {
      request.resume().on('end', () => {
        seen.push(
          `${request.method} ${request.url} ${request.headers.host} ${String(request.headers['mcp-session-id'])}`,
        );
        response.writeHead(200, { 'mcp-session-id': 's' }).end('fine');
      });
    });
    const { gateway } = await openSockets();
    const servers = [{ name: 'desk', url: `http://mcp.example:${port}/in/mcp?key=1` }];
    const session = await openSession(gateway, { mcpServers: servers });
    const path = session.mcpUrlOf('desk').slice(session.baseURL.length);
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await ask(session, { method, path, headers: { 'mcp-session-id': 'x' } });
      expect([answer.headers['mcp-session-id'], (await readAll(answer)).toString()]).toEqual(['s', 'fine']);
    }
    const target = `/in/mcp?key=1 mcp.example:${port} x`;
    expect(seen).toEqual([`GET ${target}`, `POST ${target}`, `DELETE ${target}`]);
    expect(session.baseURL).not.toContain('mcp.example');
    expect((await ask(session, { method: 'PUT', path })).statusCode).toBe(405);
    for (const other of [`${path}/`, `${path}?x=1`, `${path}/../1`, '/mcp', '/mcp/1', '/mcp/none']) {
      expect([other, (await ask(session, { path: other })).statusCode]).toEqual([other, 404]);
    }
    expect(seen).toHaveLength(3);
    expect(session.whyUnreachable('desk')).toBeNull();
  });

  it('[J194] never take the body of a GET for another request', async () => {
    const seen: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      seen.push(request.url);
      request.resume().on('end', () => response.end('fine'));
    });
    const { gateway } = await openSockets();
    const session = await openSession(gateway, {
      mcpServers: [{ name: 'desk', url: `http://mcp.example:${port}/mcp` }],
    });
    const socket = connect(session.socketPath!);
    onTestFinished(() => void socket.destroy());
    const hidden = 'POST /admin HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n';
    const target = new URL(session.mcpUrlOf('desk')).pathname;
    const framed = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${framed}`);
    await once(socket, 'data');
    const path = target.slice(new URL(session.baseURL).pathname.length);
    for (let at = 0; at < 3; at++) await readAll(await ask(session, { path }));
    expect(seen).toEqual(['/mcp', '/mcp', '/mcp', '/mcp']);
  });

  it('[J194] that may not be reached, or cannot, are reported with the reason', async () => {
    const { gateway } = await openSockets();
    const servers = [
      { name: 'closed', url: 'http://10.0.0.1/mcp' },
      { name: 'gone', url: 'http://mcp.example:9/mcp' },
    ];
    const session = await openSession(gateway, { mcpServers: servers });
    for (const { name } of servers) {
      const path = session.mcpUrlOf(name).slice(session.baseURL.length);
      expect([name, (await ask(session, { path })).statusCode]).toEqual([name, 502]);
    }
    expect([session.whyUnreachable('closed'), session.whyUnreachable('gone')]).toEqual([
      'no',
      expect.stringContaining('ECONNREFUSED'),
    ]);
  });
});

describe('connections to other hosts', () => {
  it('[J195] are opened where the environment allows it, and pass bytes both ways', async () => {
    const port = await echo();
    const { gateway } = await openSockets();
    const session = await openSession(gateway);
    const { status, socket } = await tunnel(session, `open.example:${port}`);
    expect(status).toBe('HTTP/1.1 200 Connection Established');
    socket.write('hello');
    expect(String(((await once(socket, 'data')) as [Buffer])[0])).toBe('hello');
    session.close();
    await once(socket, 'close');
  });

  it('[J195] pass everything that the host has said before it hung up, also to a program that reads slowly', async () => {
    const bytes = 24 * 1024 * 1024;
    const port = await serveTcp((socket) => void socket.end(Buffer.alloc(bytes)));
    const { gateway } = await openSockets();
    const { socket, rest } = await tunnel(await openSession(gateway), `open.example:${port}`, undefined, {
      isPaused: true,
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    let got = Buffer.byteLength(rest.replace(/^\n/, ''));
    for await (const piece of socket) got += (piece as Buffer).length;
    expect(got).toBe(bytes);
  });

  it('[J195] are refused with the reason elsewhere, without the secret, and for a target that is not a host and port', async () => {
    const { gateway } = await openSockets();
    const session = await openSession(gateway);
    const closed = await tunnel(session, 'closed.example:443');
    expect([closed.status, closed.rest]).toEqual(['HTTP/1.1 403 Forbidden', expect.stringContaining('is closed')]);
    expect((await tunnel(session, 'open.example:443', 'wrong')).status).toContain('407');
    expect((await tunnel(session, 'open.example:443', null)).status).toContain('407');
    for (const target of ['open.example', 'http://open.example:443/', 'a b:1', '[::1', ':443', 'open.example:99999']) {
      const { status } = await tunnel(session, target);
      expect([target, status.split(' ')[1]]).toEqual([target, '400']);
    }
  });

  it('[J195] are so many at a time, and there are none through the port on loopback', async () => {
    const port = await echo();
    const { gateway } = await openSockets();
    const session = await openSession(gateway);
    const open = [];
    for (let at = 0; at < programLimits.gatewayTunnelsMax; at++)
      open.push(await tunnel(session, `open.example:${port}`));
    expect(new Set(open.map(({ status }) => status))).toEqual(new Set(['HTTP/1.1 200 Connection Established']));
    expect((await tunnel(session, `open.example:${port}`)).status).toContain('503');
    const common = await openGateway();
    onTestFinished(() => common.close());
    const loopback = await openSession(common);
    expect((await tunnel(loopback, `open.example:${port}`)).status).toContain('405');
    expect(loopback.environment({})).not.toHaveProperty('HTTPS_PROXY');
    expect(session.environment({ NO_PROXY: 'x' })).toMatchObject({
      HTTPS_PROXY: expect.stringMatching(/^http:\/\/fleetloom:/),
      NO_PROXY: '127.0.0.1,localhost,::1',
    });
  });
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function echo(): Promise<number> {
  return await serveTcp((socket) => void socket.pipe(socket));
}

async function serveTcp(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Asks for a connection as curl does, by default with the secret that the session's variables name. */
async function tunnel(session: GatewaySession, target: string, secret?: string | null, { isPaused = false } = {}) {
  const { hostname, port, pathname } = new URL(session.baseURL);
  const socket = session.socketPath === null ? connect(Number(port), hostname) : connect(session.socketPath);
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  const password = secret === undefined ? pathname.slice(1) : secret;
  const encoded = Buffer.from(`fleetloom:${password}`).toString('base64');
  const header = password === null ? '' : `proxy-authorization: Basic ${encoded}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${header}\r\n`);
  const [piece] = (await once(socket, 'data')) as [Buffer];
  if (isPaused) socket.pause();
  const [status = '', ...rest] = piece.toString().split('\r\n');
  return { status, rest: rest.join('\n'), socket };
}
