import { createSecureContext, connect as connectTls, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { EgressEntry } from '../frames/egress-entry.ts';
import { createAuthority } from './authority.ts';
import { createConnectionLog } from './connection-log.ts';
import { type EgressCredential, toPlaceholder } from './credentials.ts';
import { type BenchOptions, limited, openEgressBench, openOrigin, readRest, sendRaw, world } from './egress.suite.ts';
import { createInterception } from './intercept-tunnel.ts';
import { egressLimits } from './limits.ts';

const SECRET = 'sk-canary "é" &=+/';
const OWN = toPlaceholder('sesn_1', 'vcrd_1');
/** As header values are received: one character for each byte. */
const inLatin1 = (text: string) => Buffer.from(text).toString('latin1');

interface Bench extends BenchOptions {
  readonly credential?: Partial<EgressCredential>;
  readonly hosts?: readonly string[];
  readonly secret?: () => Promise<string | undefined>;
}

/** A proxy with one credential for a.example, and the hosts a.example and b.example behind it. */
async function openBench({ credential, hosts = ['a.example'], secret = async () => SECRET, ...more }: Bench = {}) {
  const [a, b] = [await openOrigin({ name: 'a.example' }), await openOrigin({ name: 'b.example' })];
  const authority = createAuthority();
  const own = {
    id: 'vcrd_1',
    placeholder: OWN,
    isInHeaders: true,
    isInBodies: true,
    readSecret: secret,
    ...credential,
  };
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => void problems.push(problem);
  const inner: EgressEntry[] = [];
  const log = createConnectionLog({
    write: async (written) => void inner.push(...written),
    clock: { now: Date.now, steady: Date.now },
    nextId: () => 'x',
    onProblem,
  });
  const interception = createInterception({
    credentials: { findFor: async (host) => (hosts.includes(host) ? [own] : []) },
    authority,
    trust: createSecureContext({ ca: world.certificate }),
    log,
    onProblem,
  });
  const bench = await openEgressBench({
    networking: limited('a.example', 'b.example'),
    ports: { 'a.example:443': a.port, 'b.example:443': b.port },
    ...more,
    more: { interception },
  });
  const open = async (host: string): Promise<TLSSocket> => {
    const { socket } = await sendRaw(bench, `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`);
    return connectTls({ socket, servername: host, ca: [authority.certificate, world.certificate] });
  };
  const send = async (host: string, text: string | Buffer, pieces = 1) => {
    const secure = await open(host);
    const bytes = Buffer.from(text as string);
    const size = Math.ceil(bytes.length / pieces);
    for (let at = 0; at < bytes.length; at += size) {
      secure.write(bytes.subarray(at, at + size));
      if (pieces > 1) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return await readRest(secure);
  };
  return { ...bench, a, b, open, send, problems, inner };
}

function toRequest(first: string, headers: readonly string[], body: string | Buffer = ''): Buffer {
  const length = body.length === 0 ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const head = [first, 'Host: a.example', 'Connection: close', ...headers, ...length].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), Buffer.from(body as string)]);
}

it('[EG30] a placeholder is `flph_` and 40 letters or digits, of its session and credential', () => {
  expect(OWN).toMatch(/^flph_[A-Za-z0-9]{40}$/);
  expect(toPlaceholder('sesn_1', 'vcrd_1')).toBe(OWN);
  expect(new Set([OWN, toPlaceholder('sesn_2', 'vcrd_1'), toPlaceholder('sesn_1', 'vcrd_2')]).size).toBe(3);
});

it('[EG31] the secret is put into header values, and into the password of Basic credentials', async () => {
  const { a, send, entries } = await openBench();
  const basic = Buffer.from(`user:${OWN}`).toString('base64');
  const text = await send(
    'a.example',
    toRequest('GET /x HTTP/1.1', [`X-Key: <${OWN}|${OWN}>`, `Authorization: Basic ${basic}`]),
  );
  expect(text).toContain('hello');
  const [seen] = a.seen;
  expect(seen!.headers['x-key']).toBe(inLatin1(`<${SECRET}|${SECRET}>`));
  const [, sent] = seen!.headers.authorization!.split(' ');
  expect(Buffer.from(sent!, 'base64').toString()).toBe(`user:${SECRET}`);
  await expect
    .poll(() => entries.at(-1))
    .toMatchObject({ outcome: 'closed', protocol: 'tls', credentials: { vcrd_1: 1 } });
  expect(JSON.stringify(entries)).not.toContain('canary');
});

it('[EG32] the placeholder in the path, the query, the name of a header or a host reaches the host as it is', async () => {
  const { a, send, entries } = await openBench();
  await send('a.example', toRequest(`GET /${OWN}?k=${OWN} HTTP/1.1`, [`${OWN}: x`]));
  expect(a.seen[0]!.url).toBe(`/${OWN}?k=${OWN}`);
  expect(a.seen[0]!.rawHeaders).toContain(OWN);
  expect(JSON.stringify(a.seen)).not.toContain('canary');
  await expect.poll(() => entries.at(-1)?.outcome).toBe('closed');
  expect(entries.at(-1)).not.toHaveProperty('credentials');
});

it('[EG33] in bodies it is escaped in JSON, encoded in forms and verbatim elsewhere, and the length is right, in chunks too', async () => {
  const { a, send } = await openBench();
  const post = async (type: string, body: string, pieces = 1) => {
    await send('a.example', toRequest('POST / HTTP/1.1', [`Content-Type: ${type}`], body), pieces);
    return a.seen.at(-1)!;
  };
  const json = await post('application/json; charset=utf-8', `{"k":"${OWN}","u":"ü"}`);
  expect(JSON.parse(json.body)).toEqual({ k: SECRET, u: 'ü' });
  expect(Number(json.headers['content-length'])).toBe(Buffer.byteLength(json.body));
  expect((await post('application/vnd.api+json', `"${OWN}"`)).body).toBe(JSON.stringify(SECRET));
  const form = await post('application/x-www-form-urlencoded', `a=1&k=${OWN}`);
  expect(Object.fromEntries(new URLSearchParams(form.body))).toEqual({ a: '1', k: SECRET });
  expect((await post('text/plain', `<${OWN}>`)).body).toBe(`<${SECRET}>`);
  expect((await post('multipart/form-data; boundary=x', `--x\r\n\r\n${OWN}\r\n--x--`, 9)).body).toContain(
    `\r\n${SECRET}\r\n`,
  );
  // Cut in the middle of the placeholder.
  const [first, second] = [`{"k":"${OWN.slice(0, 9)}`, `${OWN.slice(9)}"}`];
  const chunks = [first, second].map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('');
  const headers = [
    'POST / HTTP/1.1',
    'Host: a.example',
    'Connection: close',
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  ];
  await send('a.example', `${headers.join('\r\n')}\r\n\r\n${chunks}0\r\n\r\n`, 7);
  expect(JSON.parse(a.seen.at(-1)!.body)).toEqual({ k: SECRET });
});

it('[EG34] only the places that the credential allows are replaced', async () => {
  const header = await openBench({ credential: { isInBodies: false } });
  await header.send('a.example', toRequest('POST / HTTP/1.1', [`X-Key: ${OWN}`], OWN));
  expect([header.a.seen[0]!.headers['x-key'], header.a.seen[0]!.body]).toEqual([inLatin1(SECRET), OWN]);
  const body = await openBench({ credential: { isInHeaders: false } });
  await body.send('a.example', toRequest('POST / HTTP/1.1', [`X-Key: ${OWN}`], OWN));
  expect([body.a.seen[0]!.headers['x-key'], body.a.seen[0]!.body]).toEqual([OWN, SECRET]);
});

it('[EG35] a host that the credential does not allow, and the placeholder of another session, get the placeholder', async () => {
  const { a, b, send, entries } = await openBench();
  const other = toPlaceholder('sesn_2', 'vcrd_1');
  await send('a.example', toRequest('GET / HTTP/1.1', [`X-Key: ${other}`]));
  expect(a.seen[0]!.headers['x-key']).toBe(other);
  await send('b.example', toRequest('GET / HTTP/1.1', [`X-Key: ${OWN}`]));
  expect(b.seen[0]!.headers['x-key']).toBe(OWN);
  // Its TLS is not opened.
  await expect.poll(() => entries.filter(({ outcome }) => outcome === 'closed').length).toBe(2);
  expect(entries.at(-1)).toMatchObject({ host: 'b.example', protocol: 'tunnel' });
});

it('[EG35] without encryption nothing is replaced', async () => {
  const plain = await openOrigin();
  const bench = await openBench({ ports: { 'a.example:80': plain.port } });
  await sendRaw(
    bench,
    `GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nX-Key: ${OWN}\r\n\r\n`,
  );
  expect(plain.seen[0]!.headers['x-key']).toBe(OWN);
});

it('[EG36] compressed bodies and those of more than 10 MiB are passed on as they are', async () => {
  const { a, send } = await openBench();
  const packed = gzipSync(`<${OWN}>`);
  await send('a.example', toRequest('POST / HTTP/1.1', ['Content-Encoding: gzip'], packed));
  expect(a.seen[0]!.headers['content-length']).toBe(String(packed.length));
  const fits = `${OWN}${'x'.repeat(egressLimits.bodyBytesMax - OWN.length)}`;
  await send('a.example', toRequest('POST / HTTP/1.1', [], fits));
  expect(a.seen[1]!.body.slice(0, SECRET.length)).toBe(SECRET);
  await send('a.example', toRequest('POST / HTTP/1.1', [], `${fits}y`));
  expect([a.seen[2]!.body.length, a.seen[2]!.body.startsWith(OWN)]).toEqual([fits.length + 1, true]);
  // Of an unknown length, which shows only while it is read.
  const head = toRequest('POST / HTTP/1.1', ['Transfer-Encoding: chunked']);
  const chunk = Buffer.from(`${(fits.length + 1).toString(16)}\r\n${fits}y\r\n0\r\n\r\n`);
  await send('a.example', Buffer.concat([head, chunk]));
  expect([a.seen[3]!.body.length, a.seen[3]!.body.startsWith(OWN)]).toEqual([fits.length + 1, true]);
  expect([egressLimits.bodyBytesMax, egressLimits.heldBytesMax]).toEqual([10 * 1024 * 1024, 256 * 1024 * 1024]);
});

it('[EG37] the secret is read again for each request, also on a connection that stays open', async () => {
  const secrets: (string | undefined)[] = ['first', 'second', undefined];
  const { a, open } = await openBench({ secret: async () => secrets.shift() });
  const secure = await open('a.example');
  for (const count of [1, 2, 3]) {
    secure.write(`GET /${count} HTTP/1.1\r\nHost: a.example\r\nX-Key: ${OWN}\r\n\r\n`);
    await expect.poll(() => a.seen.length).toBe(count);
  }
  secure.destroy();
  expect(a.seen.map(({ headers }) => headers['x-key'])).toEqual(['first', 'second', OWN]);
});

it('[EG204] a secret is read, and its use recorded, only for a request that has its placeholder, in Basic credentials too', async () => {
  let reads = 0;
  const secret = async () => {
    reads++;
    return SECRET;
  };
  const bench = await openBench({ secret });
  const basic = (text: string) => `Authorization: Basic ${Buffer.from(text).toString('base64')}`;
  for (const header of [basic('user:password'), 'Authorization: Basic x', 'X: y'])
    await bench.send('a.example', toRequest('POST / HTTP/1.1', [header], 'body'));
  expect([reads, bench.a.seen.length]).toEqual([0, 3]);
  await bench.send('a.example', toRequest('GET / HTTP/1.1', [basic(`user:${OWN}`)]));
  expect(reads).toBe(1);
});

it('[EG37] a secret that cannot be read is a 502, and the request is not sent', async () => {
  const { a, send, problems } = await openBench({ secret: () => Promise.reject(new Error('sealed with another key')) });
  expect(await send('a.example', toRequest('GET / HTTP/1.1', [`X-Key: ${OWN}`]))).toMatch(
    /^HTTP\/1\.1 502 [\s\S]*the proxy failed/,
  );
  expect(a.seen).toEqual([]);
  expect(problems).toHaveLength(1);
});

it.each([
  ['another Host', 'GET / HTTP/1.1\r\nHost: b.example\r\n\r\n', 421],
  ['another port', 'GET / HTTP/1.1\r\nHost: a.example:444\r\n\r\n', 421],
  ['two Hosts', 'GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n', 421],
  ['no Host', 'GET / HTTP/1.0\r\n\r\n', 421],
  ['a whole URL', 'GET https://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n', 400],
  ['a tunnel in the tunnel', 'CONNECT b.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n', 0],
  [
    'a length and chunks',
    'POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
])('[EG38] in an opened tunnel a request with %s is refused', async (_, text, status) => {
  const { a, b, send } = await openBench();
  const answer = await send('a.example', text);
  expect(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)).toBe(status);
  expect([a.seen, b.seen]).toEqual([[], []]);
});

it('[EG38] a host whose certificate is not accepted is a 502 that says so, and is sent nothing', async () => {
  const forged = await openOrigin({ name: 'a.example', issuer: createAuthority() });
  const wrong = await openOrigin({ name: 'b.example' });
  for (const { port, seen } of [forged, wrong]) {
    const bench = await openBench({ ports: { 'a.example:443': port } });
    const answer = await bench.send('a.example', toRequest('GET / HTTP/1.1', [`X-Key: ${OWN}`]));
    expect(answer).toMatch(/^HTTP\/1\.1 502 [\s\S]*the certificate of a\.example:443 is not accepted/);
    expect(seen).toEqual([]);
  }
});

it('[EG75] a `Connection` header removes neither `Content-Length` nor `Host`, so that no body is taken for a request to another site', async () => {
  const { a, open } = await openBench();
  const secure = await open('a.example');
  const hidden = 'POST /store HTTP/1.1\r\nHost: b.example\r\nContent-Length: 400\r\n\r\n';
  const named = ['Content-Encoding: x', 'Connection: Content-Length, host', `Content-Length: ${hidden.length}`];
  secure.write(`${['GET /1 HTTP/1.1', 'Host: a.example', ...named].join('\r\n')}\r\n\r\n${hidden}`);
  await expect.poll(() => a.seen.length).toBe(1);
  secure.write(`GET /2 HTTP/1.1\r\nHost: a.example\r\nX-Key: ${OWN}\r\nX-Long: ${'x'.repeat(400)}\r\n\r\n`);
  await expect.poll(() => a.seen.length).toBe(2);
  secure.destroy();
  expect(a.seen.map(({ url, headers, body }) => [url, headers.host, body])).toEqual([
    ['/1', 'a.example', hidden],
    ['/2', 'a.example', ''],
  ]);
});

it('[EG61] secrets make a body at most 1 MiB larger and headers 256 KiB: a request beyond it is a 413, and is not sent', async () => {
  const { bodyGrowthBytesMax, headerGrowthBytesMax } = egressLimits;
  expect([bodyGrowthBytesMax, headerGrowthBytesMax]).toEqual([1_048_576, 262_144]);
  const { a, send } = await openBench({ secret: async () => 's'.repeat(4_096 + OWN.length) });
  const post = (count: number) => send('a.example', toRequest('POST / HTTP/1.1', [], OWN.repeat(count)));
  const get = (count: number) =>
    send(
      'a.example',
      toRequest(
        'GET / HTTP/1.1',
        Array.from({ length: count }, (_, at) => `X-${at}: ${OWN}`),
      ),
    );
  expect(await post(bodyGrowthBytesMax / 4_096)).toContain('hello');
  expect(a.seen[0]!.body).toHaveLength(bodyGrowthBytesMax + (bodyGrowthBytesMax / 4_096) * OWN.length);
  for (const answer of [await post(bodyGrowthBytesMax / 4_096 + 1), await get(headerGrowthBytesMax / 4_096 + 1)]) {
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*too many placeholders of a long secret/);
  }
  // The headers at the limit are more than this host reads.
  expect(await get(headerGrowthBytesMax / 4_096)).toMatch(/^HTTP\/1\.1 431 /);
  expect(a.seen).toHaveLength(1);
});

it('[EG62] the bodies that are held for one session have at most 32 MiB together, and other sessions are served', async () => {
  expect(egressLimits.sessionHeldBytesMax).toBe(32 * 1024 * 1024);
  const [full, other] = [await openBench(), await openBench()];
  const part = Buffer.alloc(egressLimits.bodyBytesMax - 1, 'x');
  const head = `POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${part.length + 1}\r\n\r\n`;
  const waiting = await Promise.all([1, 2, 3].map(() => full.open('a.example')));
  for (const secure of waiting) {
    secure.write(head);
    await new Promise((written) => secure.write(part, written));
  }
  // Its last bytes are those beyond the limit.
  const whole = toRequest('POST / HTTP/1.1', [], Buffer.alloc(2 * 1024 * 1024 + 4));
  await expect.poll(() => full.send('a.example', whole)).toMatch(/^HTTP\/1\.1 503 [\s\S]*too many bodies/);
  expect(await other.send('a.example', whole)).toContain('hello');
  for (const secure of waiting) secure.destroy();
  await expect.poll(() => full.send('a.example', whole)).toContain('hello');
});

it('[EG64] a response that cannot be sent on, with control characters in its reason or another protocol, is a 502', async () => {
  const responses = [
    '101 Switching\r\nConnection: upgrade\r\nUpgrade: x',
    '200 a\u0001b',
    '200 OK\r\nX: a\u0001b',
    '099 OK',
    '200 a\u0000b',
    '200 OK\r\nX\u0001: b',
    '1000 OK',
  ];
  for (const response of responses) {
    const raw = await openOrigin(
      { name: 'a.example' },
      ({ socket }) => void socket.end(Buffer.from(`HTTP/1.1 ${response}\r\nContent-Length: 1\r\n\r\nx`, 'latin1')),
    );
    const { send, problems } = await openBench({ ports: { 'a.example:443': raw.port } });
    const answer = await send('a.example', toRequest('GET / HTTP/1.1', []));
    expect([response, answer]).toEqual([response, expect.stringMatching(/^HTTP\/1\.1 502 Bad Gateway\r\n/)]);
    expect(problems).toEqual([]);
  }
});

it('[EG66] a client that gives up while its body is read is not a problem for the log of the server', async () => {
  const { open, problems, inner } = await openBench();
  const secure = await open('a.example');
  const head = 'POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9\r\n\r\n';
  await new Promise((written) => secure.write(`${head}abc`, written));
  await new Promise((read) => setTimeout(read, 50));
  secure.destroy();
  await expect.poll(() => inner).toMatchObject([{ outcome: 'refused', reason: 'unreachable' }]);
  expect(problems).toEqual([]);
});

it('[EG39] responses are not changed: a token that a host returns reaches the program', async () => {
  const echo = await openOrigin({ name: 'a.example' }, (request, response) => {
    response.writeHead(200, { 'x-echo': String(request.headers['x-key']) }).end(request.headers['x-key']);
  });
  const { send } = await openBench({ ports: { 'a.example:443': echo.port }, secret: async () => 'sk-canary' });
  expect(await send('a.example', toRequest('GET / HTTP/1.1', [`X-Key: ${OWN}`]))).toMatch(
    /x-echo: sk-canary[\s\S]*sk-canary/,
  );
});
