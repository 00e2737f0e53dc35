import { once } from 'node:events';
import { mkdtempSync, realpathSync } from 'node:fs';
import { connect, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkServerIdentity as checkIdentity, connect as connectTls } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSocketDirectory } from '../base/files/open-socket-directory.ts';
import { createAuthority } from './authority.ts';
import {
  openEgressBench,
  limited,
  openOrigin,
  openTcpOrigin,
  PUBLIC,
  readRest,
  sendRaw,
  world,
} from './egress.suite.ts';
import type { ConnectionLog } from './connection-log.ts';
import { egressLimits } from './limits.ts';
import { createEgressPolicy } from './policy.ts';
import type { EgressProxy } from './proxy.ts';
import { createSessionEgresses } from './session-egresses.ts';

const CONNECT = (target: string, more = '') => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${more}\r\n`;

describe('which hosts are allowed', () => {
  const check = (networking: Parameters<typeof createEgressPolicy>[0]['networking'], host: string, port = 443) => {
    const verdict = createEgressPolicy({ networking, mcpServers: ['https://mcp.example:8443/x'] }).check({
      host,
      port,
    });
    return verdict.type === 'allowed' ? 'allowed' : verdict.reason;
  };

  it('[EG1] a limited environment allows its hosts on ports 80 and 443, and other ports only where an entry names them', () => {
    const hosts = limited('api.example.com', '*.wild.example', 'ported.example:8443', '8.8.8.8', 'bücher.example');
    const allowed: [string, number?][] = [
      ['api.example.com'],
      ['api.example.com', 80],
      ['a.b.wild.example'],
      ['ported.example', 8443],
      ['8.8.8.8'],
      ['xn--bcher-kva.example'],
    ];
    for (const [host, port] of allowed) expect([host, check(hosts, host, port)]).toEqual([host, 'allowed']);
    for (const host of ['wild.example', 'xwild.example', 'example.com', 'x.api.example.com', '8.8.4.4', '1.8.8.8']) {
      expect([host, check(hosts, host)]).toEqual([host, 'host_not_allowed']);
    }
    expect(check(hosts, 'api.example.com', 22)).toBe('port_not_allowed');
    expect(check(hosts, 'ported.example', 443)).toBe('port_not_allowed');
    // An entry that is not a host, and one below which an address would be.
    for (const entry of ['', '*', '*.', '*.8']) expect(check(limited(entry), '8.8.8.8')).toBe('host_not_allowed');
  });

  it('[EG2] allow_package_managers opens the registries and no hosts of code; allow_mcp_servers the servers of the agents, that port only', () => {
    const open = { ...limited(), allow_package_managers: true, allow_mcp_servers: true };
    for (const host of ['pypi.org', 'files.pythonhosted.org', 'crates.io']) expect(check(open, host)).toBe('allowed');
    for (const host of ['github.com', 'gitlab.com', 'gist.github.com'])
      expect(check(open, host)).toBe('host_not_allowed');
    expect([check(open, 'mcp.example', 8443), check(open, 'mcp.example', 443)]).toEqual([
      'allowed',
      'port_not_allowed',
    ]);
    expect([check(limited(), 'pypi.org'), check(limited(), 'mcp.example', 8443)]).toEqual(
      Array(2).fill('host_not_allowed'),
    );
  });

  it('[EG3] an unrestricted environment allows every name on ports 80 and 443, and no address', () => {
    const open = { type: 'unrestricted' } as const;
    expect([check(open, 'any.example'), check(open, 'any.example', 80)]).toEqual(['allowed', 'allowed']);
    expect([check(open, 'any.example', 25), check(open, '8.8.8.8')]).toEqual(['port_not_allowed', 'host_not_allowed']);
  });
});

describe('a tunnel', () => {
  it('[EG4] leads to the host that was asked for, whose own certificate its client sees, and is logged with its bytes', async () => {
    const origin = await openOrigin({ name: 'a.example' });
    const bench = await openEgressBench({ ports: { 'a.example:443': origin.port } });
    const { socket } = await sendRaw(bench, CONNECT('a.example:443'));
    const secure = connectTls({ socket, servername: 'a.example', ca: world.certificate });
    secure.write('GET /x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n');
    expect(await readRest(secure)).toContain('hello');
    expect(secure.authorized).toBe(true);
    expect(origin.seen).toMatchObject([{ method: 'GET', url: '/x' }]);
    await expect.poll(() => bench.entries.length).toBe(2);
    const [opened, closed] = bench.entries;
    expect(opened).toEqual({ id: 'egrs_1', outcome: 'opened', host: 'a.example', port: 443, protocol: 'tunnel' });
    expect(closed).toMatchObject({ id: 'egrs_1', outcome: 'closed', host: 'a.example', port: 443, protocol: 'tunnel' });
    expect(closed?.outcome === 'closed' && closed.bytes_sent > 200 && closed.bytes_received > 500).toBe(true);
    expect(bench.dialled).toEqual([`a.example:443 ${PUBLIC}`]);
    expect(bench.problems).toEqual([]);
  });

  it.each([
    ['another name', 'b.example', 'server_name_differs'],
    ['a name below it', 'x.a.example', 'server_name_differs'],
    ['no name', undefined, 'server_name_differs'],
  ])('[EG5] in which TLS names %s is closed before anything is sent to the host', async (_, servername, reason) => {
    let received = 0;
    const port = await openTcpOrigin((socket) => void socket.on('data', (chunk) => (received += chunk.length)));
    const bench = await openEgressBench({
      ports: { 'a.example:443': port },
      networking: limited('a.example', 'b.example'),
    });
    const { socket } = await sendRaw(bench, CONNECT('a.example:443'));
    const secure = connectTls({
      socket,
      ...(servername === undefined ? {} : { servername }),
      rejectUnauthorized: false,
    });
    await new Promise((resolve) => secure.on('error', () => undefined).on('close', resolve));
    await expect.poll(() => bench.entries.at(-1)).toMatchObject({ outcome: 'closed', reason, bytes_sent: 0 });
    expect(received).toBe(0);
  });

  it('[EG5] in which the client does not speak TLS is closed, unless an entry names the port', async () => {
    let received = '';
    const port = await openTcpOrigin((socket) => {
      socket.on('data', (chunk) => {
        received += String(chunk);
        socket.end('later\n');
      });
    });
    const networking = limited('a.example', 'a.example:2222');
    const bench = await openEgressBench({ networking, ports: { 'a.example:443': port, 'a.example:2222': port } });
    const closed = await sendRaw(bench, CONNECT('a.example:443'), 'GET / HTTP/1.1\r\n\r\n');
    expect(await readRest(closed.socket)).toBe('');
    expect(received).toBe('');
    const passed = await sendRaw(bench, CONNECT('a.example:2222'), 'SSH-2.0-x\r\n');
    expect(await readRest(passed.socket)).toBe('later\n');
    expect(received).toBe('SSH-2.0-x\r\n');
    await expect.poll(() => bench.entries.length).toBe(4);
    expect(bench.entries.filter(({ outcome }) => outcome === 'closed')).toMatchObject([
      { reason: 'not_tls', bytes_sent: 0 },
      { port: 2222, bytes_sent: 11 },
    ]);
  });

  it('[EG5] a host on a named port may speak first', async () => {
    const port = await openTcpOrigin((socket) => void socket.end('220 mail\r\n'));
    const bench = await openEgressBench({ networking: limited('a.example:25'), ports: { 'a.example:25': port } });
    const { socket } = await sendRaw(bench, CONNECT('a.example:25'));
    expect(await readRest(socket)).toBe('220 mail\r\n');
  });

  it('[EG6] a name that resolves to this machine, a private network or a metadata service is refused, however the address is written', async () => {
    const addresses = (
      '127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 ' +
      '::1 :: fd00::1 fe80::1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::a00:1 2002:7f00:1::'
    ).split(' ');
    for (const address of addresses) {
      const bench = await openEgressBench({ resolve: () => [address] });
      const { status, text } = await sendRaw(bench, CONNECT('a.example:443'));
      expect([address, status]).toEqual([address, 403]);
      expect(text).toContain('a.example is not on the public internet');
      expect(bench.dialled).toEqual([]);
      await expect.poll(() => bench.entries).toMatchObject([{ outcome: 'refused', reason: 'address_not_public' }]);
    }
    const listed = [
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '017700000001',
      '127.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
    ];
    for (const host of listed) {
      const networking = limited(host, '127.0.0.1', '[::1]', '[::ffff:7f00:1]');
      const bench = await openEgressBench({ networking, resolve: () => ['127.0.0.1'] });
      const { status } = await sendRaw(bench, CONNECT(`${host}:443`));
      expect([host, status, bench.dialled]).toEqual([host, 403, []]);
    }
  });

  it('[EG6] is connected to the addresses that were checked, also when the name has others a moment later', async () => {
    const answers = [['10.0.0.1', PUBLIC], ['127.0.0.1']];
    const origin = await openOrigin({ name: 'a.example' });
    const bench = await openEgressBench({
      resolve: () => answers.shift() ?? [],
      ports: { 'a.example:443': origin.port },
    });
    expect((await sendRaw(bench, CONNECT('a.example:443'))).status).toBe(200);
    expect(bench.dialled).toEqual([`a.example:443 ${PUBLIC}`]);
    expect((await sendRaw(bench, CONNECT('a.example:443'))).status).toBe(403);
  });

  it('[EG6] a private host that the operator has named is connected to', async () => {
    const origin = await openOrigin({ name: 'a.example' });
    const ports = { 'a.example:443': origin.port };
    const bench = await openEgressBench({ resolve: () => ['10.0.0.9'], ports, allowedPrivateHosts: ['a.example'] });
    expect((await sendRaw(bench, CONNECT('a.example:443'))).status).toBe(200);
  });
});

describe('a refusal', () => {
  it('[EG7, EG80] is a 403 with one line that names the host and the setting that would allow it', async () => {
    const bench = await openEgressBench();
    const tunnel = await sendRaw(bench, CONNECT('b.example:443'));
    const line =
      'b.example:443 is not allowed: the environment has limited networking (allowed_hosts: a.example); add b.example to its allowed_hosts\n';
    expect(tunnel.status).toBe(403);
    expect(tunnel.text).toMatch(/\r\nx-fleetloom-egress: denied\r\n/);
    expect(tunnel.text.endsWith(`\r\n\r\n${line}`)).toBe(true);
    // [EG80] Clients show nothing of the refusal of a tunnel but this.
    expect(tunnel.text.startsWith(`HTTP/1.1 403 ${line.trim()}\r\n`)).toBe(true);
    const plain = await sendRaw(bench, 'GET http://b.example/x HTTP/1.1\r\nHost: b.example\r\n\r\n');
    expect([plain.status, plain.text.includes('b.example:80 is not allowed')]).toEqual([403, true]);
    const port = await sendRaw(bench, CONNECT('a.example:22'));
    expect([port.status, port.text.includes('(add a.example:22)')]).toEqual([403, true]);
    await expect.poll(() => bench.entries.length).toBe(3);
    expect(bench.entries).toMatchObject([
      { outcome: 'refused', host: 'b.example', port: 443, protocol: 'tunnel', reason: 'host_not_allowed' },
      { outcome: 'refused', host: 'b.example', port: 80, protocol: 'http', reason: 'host_not_allowed' },
      { outcome: 'refused', host: 'a.example', port: 22, reason: 'port_not_allowed' },
    ]);
  });

  it.each([
    ['no port', 'CONNECT a.example HTTP/1.1\r\nHost: a.example\r\n\r\n', 400],
    ['a path', CONNECT('a.example:443/x'), 400],
    ['a user', CONNECT('b.example@a.example:443'), 400],
    ['port 0', CONNECT('a.example:0'), 400],
    ['a port above 65535', CONNECT('a.example:70000'), 400],
    ['a port with letters', CONNECT('a.example:443x'), 400],
    ['a scheme', CONNECT('https://a.example:443'), 400],
    ['an escaped name', CONNECT('a%2eexample:443'), 400],
    ['a request without a host', 'GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n', 400],
    ['https without a tunnel', 'GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n', 400],
    ['another scheme', 'GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n', 400],
    ['a URL with a user', 'GET http://b.example@a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n', 400],
    ['another Host than the URL', 'GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n', 400],
    ['two Hosts', 'GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n', 400],
    ['no Host', 'GET http://a.example/ HTTP/1.0\r\n\r\n', 400],
    [
      'two lengths',
      'POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
      400,
    ],
    [
      'a length and chunks',
      'POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a folded header', 'GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nX: a\r\n b: c\r\n\r\n', 400],
    [
      'a bare line feed',
      'GET http://a.example/ HTTP/1.1\nHost: a.example\nX:a\n\nGET http://b.example/ HTTP/1.1\n\n',
      400,
    ],
    ['nonsense', '\x16\x03\x01\x00\x05hello', 400],
  ])('[EG8] %s is refused, and no host is connected to', async (_, text, status) => {
    const bench = await openEgressBench({ networking: limited('a.example', 'b.example') });
    expect((await sendRaw(bench, text)).status).toBe(status);
    expect(bench.dialled).toEqual([]);
    expect(bench.problems).toEqual([]);
  });
});

describe('a request without encryption', () => {
  it('[EG9] reaches its host as a new request, without the headers of the connection and of the proxy', async () => {
    const origin = await openOrigin({}, (_, response) => {
      response
        .writeHead(
          201,
          [
            ['Set-Cookie', 'a=1'],
            ['Set-Cookie', 'b=2'],
            ['X-Own', 'y'],
          ].flat(),
        )
        .end('made');
    });
    const bench = await openEgressBench({ ports: { 'a.example:80': origin.port } });
    const headers = [
      'Host: a.example',
      'X-Tool: 1',
      'Connection: close, x-drop',
      'X-Drop: 1',
      'Proxy-Authorization: Basic eDp5',
    ];
    const request = `POST http://a.example/p?q=1 HTTP/1.1\r\n${headers.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    const { status, text } = await sendRaw(bench, request);
    expect(status).toBe(201);
    expect(text).toMatch(/Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Own: y/);
    const [seen] = origin.seen;
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/p?q=1',
      body: 'abc',
      headers: { host: 'a.example', 'x-tool': '1' },
    });
    expect(Object.keys(seen!.headers).toSorted()).toEqual(['connection', 'host', 'transfer-encoding', 'x-tool']);
  });

  it('[EG9] a redirect to a host that is not allowed is passed on, and refused when it is followed', async () => {
    const origin = await openOrigin(
      {},
      (_, response) => void response.writeHead(302, { location: 'http://b.example/' }).end(),
    );
    const bench = await openEgressBench({ ports: { 'a.example:80': origin.port } });
    const get = (host: string) =>
      sendRaw(bench, `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect((await get('a.example')).status).toBe(302);
    expect((await get('b.example')).status).toBe(403);
  });
});

describe('limits', () => {
  it('[EG10] one more connection than the 64 of a session is answered with 503 and says why', async () => {
    const port = await openTcpOrigin(() => undefined);
    const bench = await openEgressBench({ networking: limited('a.example:1'), ports: { 'a.example:1': port } });
    const open = await Promise.all(
      Array.from({ length: egressLimits.connectionsMax }, () => sendRaw(bench, CONNECT('a.example:1'))),
    );
    onTestFinished(() => open.forEach(({ socket }) => socket.destroy()));
    expect(open.every(({ status }) => status === 200)).toBe(true);
    const more = await sendRaw(bench, CONNECT('a.example:1'));
    expect([more.status, more.text.includes('64 connections of this session are open')]).toEqual([503, true]);
    open[0]!.socket.destroy();
    await expect.poll(async () => (await sendRaw(bench, CONNECT('a.example:1'))).status).toBe(200);
    const { connectionsMax, connectionMs, idleMs } = egressLimits;
    expect([connectionsMax, connectionMs, idleMs]).toEqual([64, 3_600_000, 300_000]);
  });
});

it.each([
  ['a tunnel', CONNECT('a.example:1')],
  ['a request', 'GET http://a.example:1/ HTTP/1.1\r\nHost: a.example:1\r\n\r\n'],
])('[EG201] a client that gives up while %s is logged leaves no connection to the host', async (_, text) => {
  let [open, opened] = [0, 0];
  const port = await openTcpOrigin((socket) => {
    [open, opened] = [open + 1, opened + 1];
    socket.once('close', () => void open--).resume();
  });
  let write = (): void => {};
  const closed: unknown[] = [];
  const isWritten = new Promise<void>((resolve) => (write = resolve));
  const log: ConnectionLog = {
    open: async () => (await isWritten, { close: (end) => void closed.push(end) }),
    refuse: () => {},
  };
  const networking = limited('a.example:1');
  const bench = await openEgressBench({ networking, ports: { 'a.example:1': port }, more: { log } });
  const client = connect(bench.socketPath);
  client.write(text);
  await expect.poll(() => opened).toBe(1);
  client.destroy();
  // The proxy has seen it once a later client was served.
  await expect.poll(async () => (await sendRaw(bench, CONNECT('b.example:1'))).status).toBe(403);
  write();
  await expect.poll(() => [open, closed.length]).toEqual([0, 1]);
  expect(bench.problems).toEqual([]);
});

it('[EG201] a failure to look up credentials leaves no connection to the host, and the client gets a 502', async () => {
  let open = 0;
  const port = await openTcpOrigin((socket) => {
    open++;
    socket.once('close', () => void open--).resume();
  });
  const appliesTo = () => Promise.reject(new Error('the store is away'));
  const more = { interception: { appliesTo, open: () => {} } };
  const bench = await openEgressBench({ ports: { 'a.example:443': port }, more });
  expect((await sendRaw(bench, CONNECT('a.example:443'))).status).toBe(502);
  await expect.poll(() => open).toBe(0);
  expect(bench.problems.map(String)).toEqual(['Error: the store is away']);
});

it('[EG11] a certificate of the own authority is accepted for its host only, by its name or address', async () => {
  const authority = createAuthority();
  const handshake = async (port: number, servername: string) => {
    // With an address TLS names no server, and the certificate is compared with the address.
    const named = isIP(servername) === 0 ? { servername } : { host: servername };
    const checkServerIdentity: typeof checkIdentity = (_, cert) => checkIdentity(servername, cert);
    const connection = connect(port, '127.0.0.1');
    const socket = connectTls({ socket: connection, ca: authority.certificate, ...named, checkServerIdentity });
    return await new Promise<string>((resolve) => {
      socket.on('secureConnect', () => resolve('accepted')).on('error', () => resolve('refused'));
    }).finally(() => socket.destroy());
  };
  const pairs = [
    ['a.example', 'b.example'],
    ['127.0.0.1', '127.0.0.2'],
    ['::1', '::2'],
    ['2001:db8::1:2', '2001:db8::2:1'],
  ] as const;
  for (const [name, other] of pairs) {
    const { port } = await openOrigin({ name, issuer: authority });
    expect([name, await handshake(port, name), await handshake(port, other)]).toEqual([name, 'accepted', 'refused']);
    const foreign = await openOrigin({ name });
    expect(await handshake(foreign.port, name)).toBe('refused');
  }
});

/** A proxy that answers each request. */
function openProxyOf(owner: string) {
  const handle: EgressProxy['handle'] = (_, response) => void response.end('served');
  return async () => ({ proxy: { handle, connect: () => {}, close: () => {} }, owner, environment: {} });
}

it('[U606] the sessions of one workspace have at most half of all connections, and others are accepted', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-egress-')));
  const egresses = createSessionEgresses(openSocketDirectory(root), 8);
  onTestFinished(() => egresses.closeAll());
  const open = async (id: string, owner: string) =>
    (await egresses.open(id, openProxyOf(owner))).readOnlyPaths[0]!.path;
  const own = [await open('sesn_1', 'a'), await open('sesn_2', 'a'), await open('sesn_3', 'a')];
  const other = await open('sesn_4', 'b');
  const ask = async (socketPath: string) =>
    (await sendRaw({ socketPath }, 'GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).text;
  const idle = [own[0], own[0], own[1], own[1]].map((path) => connect(path!));
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  await expect.poll(() => ask(own[2]!)).toBe('');
  expect(await ask(other)).toContain('served');
  for (const socket of idle) socket.destroy();
  await expect.poll(() => ask(own[2]!)).toContain('served');
});

it('[EG67] connections of all sessions together are bounded, those of one to a quarter, and others are accepted when they end', async () => {
  expect(egressLimits.allConnectionsMax).toBe(16_384);
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-egress-')));
  const egresses = createSessionEgresses(openSocketDirectory(root), 8);
  onTestFinished(() => egresses.closeAll());
  const ids = ['sesn_1', 'sesn_2', 'sesn_3', 'sesn_4', 'sesn_5'];
  const sandboxes = await Promise.all(ids.map((id) => egresses.open(id, openProxyOf(id))));
  const [first, ...others] = sandboxes.map(({ readOnlyPaths }) => readOnlyPaths[0]!.path) as [string, ...string[]];
  const ask = async (socketPath: string) =>
    (await sendRaw({ socketPath }, 'GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).text;
  const fill = async (path: string) => {
    const idle = [connect(path), connect(path)];
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    return idle;
  };
  const idle = await fill(first);
  await expect.poll(() => ask(first)).toBe('');
  expect(await ask(others[0]!)).toContain('served');
  for (const path of others.slice(0, 3)) idle.push(...(await fill(path)));
  await expect.poll(() => ask(others[3]!)).toBe('');
  for (const socket of idle) socket.destroy();
  await expect.poll(() => ask(others[3]!)).toContain('served');
});
