import { connect as connectTls } from 'node:tls';
import { expect, it } from 'vitest';
import { egressLimits } from './limits.ts';
import { OTHER_HOSTS } from './other-hosts.suite.ts';
import { limited, openEgressBench, openOrigin, openTcpOrigin, PUBLIC, readRest, sendRaw } from './egress.suite.ts';

// Ways around the list of hosts, as far as one connection to the proxy shows them. server.egress.test.ts has those of the sandbox.

it('[EG70] no other name or address is connected to, in whatever form it is asked for', async () => {
  const bench = await openEgressBench({ resolve: (name) => (name === 'localhost' ? ['127.0.0.1'] : [PUBLIC]) });
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  let count = 0;
  for (const host of OTHER_HOSTS) {
    const texts = [
      `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      `CONNECT ${host}:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n`,
      `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      `GET http://${host}/ HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`,
    ];
    const answers = await Promise.all(texts.map((text) => sendRaw(bench, latin1(text))));
    count += answers.length;
    for (const [index, { status, socket }] of answers.entries()) {
      socket.destroy();
      expect([host, index, [400, 403].includes(status)]).toEqual([host, index, true]);
    }
  }
  expect(bench.dialled).toEqual([]);
  expect(bench.problems).toEqual([]);
  expect(count).toBeGreaterThan(250);
});

it('[EG71] no port but 80 and 443 of an allowed host is connected to', async () => {
  const bench = await openEgressBench();
  for (const port of [
    1, 21, 22, 23, 25, 53, 79, 81, 110, 143, 442, 444, 465, 587, 853, 3128, 3306, 5432, 6379, 8080, 8443, 9200, 65_535,
  ]) {
    const tunnel = await sendRaw(bench, `CONNECT a.example:${port} HTTP/1.1\r\nHost: a.example\r\n\r\n`);
    const plain = await sendRaw(
      bench,
      `GET http://a.example:${port}/ HTTP/1.1\r\nHost: a.example:${port}\r\nConnection: close\r\n\r\n`,
    );
    expect([port, tunnel.status, plain.status]).toEqual([port, 403, 403]);
  }
  expect(bench.dialled).toEqual([]);
});

it('[EG72] nothing but TLS with the allowed name passes a tunnel: no second proxy, no other protocol, no other name', async () => {
  let received = 0;
  const port = await openTcpOrigin((socket) => void socket.on('data', (chunk) => (received += chunk.length)));
  const bench = await openEgressBench({ ports: { 'a.example:443': port, 'a.example:80': port } });
  const first: (string | Buffer)[] = [
    'CONNECT b.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\n',
    'GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n',
    Buffer.from([5, 1, 0]),
    Buffer.from([4, 1, 0, 80, 1, 1, 1, 1, 0]),
    'SSH-2.0-x\r\n',
    'EHLO x\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    Buffer.from([0x16, 3, 1, 0, 4, 2, 0, 0, 0]),
    Buffer.from([0x15, 3, 1, 0, 2, 2, 40]),
    Buffer.from([0x80, 0x2e, 1, 3, 1]),
    Buffer.concat([Buffer.from([0x16, 3, 1, 0xff, 0xff]), Buffer.alloc(40_000, 1)]),
  ];
  for (const at of ['a.example:443', 'a.example:80']) {
    for (const bytes of first) {
      const { status, socket } = await sendRaw(bench, `CONNECT ${at} HTTP/1.1\r\nHost: ${at}\r\n\r\n`, bytes);
      expect([status, await readRest(socket)]).toEqual([200, '']);
    }
    for (const servername of ['b.example', 'A.EXAMPLE.b.example', 'a.example.b', 'xn--a', 'example']) {
      const { socket } = await sendRaw(bench, `CONNECT ${at} HTTP/1.1\r\nHost: ${at}\r\n\r\n`);
      const secure = connectTls({ socket, servername, rejectUnauthorized: false }).on('error', () => undefined);
      await new Promise((resolve) => secure.on('close', resolve));
    }
  }
  expect(received).toBe(0);
  const attempts = 2 * (first.length + 5);
  await expect.poll(() => bench.entries.filter(({ outcome }) => outcome === 'closed').length).toBe(attempts);
  for (const entry of bench.entries)
    if (entry.outcome === 'closed') expect(entry.reason).toMatch(/^(?:not_tls|server_name_differs)$/);
});

it('[EG73] bytes that follow a request are not taken for another one', async () => {
  const origin = await openOrigin();
  const bench = await openEgressBench({ ports: { 'a.example:80': origin.port } });
  const behind = 'GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n\r\n';
  const head = 'POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\n';
  const smuggled = [
    `${head}Content-Length: 0\r\n\r\n${behind}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${behind}`,
    `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${behind}`,
    `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${behind}`,
    `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${behind}`,
    `${head}Content-Length: +3\r\n\r\nabc${behind}`,
    `${head}Content-Length: 3, 3\r\n\r\nabc${behind}`,
    `${head}Content-Length: 0x3\r\n\r\nabc${behind}`,
    `${head}X: y\nContent-Length: 0\r\n\r\n${behind}`,
    `${head}Connection: content-length\r\nContent-Length: 3\r\n\r\nabc${behind}`,
  ];
  for (const text of smuggled) expect((await sendRaw(bench, text)).text).not.toContain('200 Connection');
  // Each request that was passed on is one of its own, for the path that it has named.
  expect(new Set(origin.seen.map(({ url, headers }) => `${url} ${headers.host}`))).toEqual(new Set(['/ a.example']));
  expect(new Set(bench.dialled)).toEqual(new Set([`a.example:80 ${PUBLIC}`]));
});

it('[EG203] 100 sessions that connect at the same time each reach their own host only, and have their own entries', async () => {
  const origins = await Promise.all(Array.from({ length: 4 }, () => openOrigin()));
  const benches = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      openEgressBench({
        networking: limited(`h${at}.example`),
        ports: { [`h${at}.example:80`]: origins[at % 4]!.port },
      }),
    ),
  );
  const get = (host: string) => `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  const statuses = await Promise.all(
    benches.flatMap((bench, at) =>
      [at, at, at + 1].map(async (host) => (await sendRaw(bench, get(`h${host}.example`))).status),
    ),
  );
  expect(statuses).toEqual(benches.flatMap(() => [200, 200, 403]));
  expect(origins.flatMap(({ seen }) => seen)).toHaveLength(200);
  for (const [at, { entries, dialled }] of benches.entries()) {
    expect(new Set(dialled)).toEqual(new Set([`h${at}.example:80 ${PUBLIC}`]));
    await expect.poll(() => entries.map(({ outcome }) => outcome).toSorted()).toEqual(OF_EACH_SESSION);
  }
});

const OF_EACH_SESSION = ['closed', 'closed', 'opened', 'opened', 'refused'];

it('[EG74] of 100 requests that come at once on one connection 64 are served at a time', async () => {
  let [open, most] = [0, 0];
  const waiting: (() => void)[] = [];
  const origin = await openOrigin({}, (_, response) => {
    most = Math.max(most, ++open);
    waiting.push(() => void (open--, response.end('hello')));
  });
  const bench = await openEgressBench({ ports: { 'a.example:80': origin.port } });
  const text = 'GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n';
  const sending = sendRaw(bench, text.repeat(100));
  await expect.poll(() => waiting.length).toBe(egressLimits.connectionsMax);
  await expect.poll(() => bench.entries.filter(({ outcome }) => outcome === 'refused').length).toBe(36);
  expect(most).toBe(64);
  for (const answer of waiting) answer();
  const { text: answers } = await sending;
  expect([answers.match(/hello/g)?.length, most]).toEqual([64, 64]);
});

it('[EG74] 20 requests on one connection leave nothing behind', async () => {
  const origin = await openOrigin();
  const bench = await openEgressBench({ ports: { 'a.example:80': origin.port } });
  const warnings: Error[] = [];
  const take = (warning: Error) => void warnings.push(warning);
  process.on('warning', take);
  const request = (last: boolean) =>
    `GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
  const { text } = await sendRaw(bench, Array.from({ length: 20 }, (_, at) => request(at === 19)).join(''));
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off('warning', take);
  expect(text.match(/hello/g)).toHaveLength(20);
  expect(warnings).toEqual([]);
});
