import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { call } from '../../test-support/live-io.ts';

const ID = 'sesn_0101kdvdna00w8v1yk3x2q7d';
const nothing = {
  reason: null,
  bytes_sent: null,
  bytes_received: null,
  duration_ms: null,
  credentials: {},
  count: null,
};
const at = { type: 'egress_connection', created_at: '2026-11-19T04:00:00.000Z', ...nothing };
const target = { host: 'api.example.com', port: 443, protocol: 'tls' };
const pages = [
  {
    data: [
      { ...at, ...target, id: 'c2', outcome: 'refused', host: 'evil\u001b.example', reason: 'host_not_allowed' },
      {
        ...at,
        ...target,
        id: 'c1',
        outcome: 'closed',
        bytes_sent: 10,
        bytes_received: 2_048,
        credentials: { vcrd_1: 2 },
      },
    ],
    next_page: 'page_2',
  },
  {
    data: [
      { ...at, ...target, id: 'c1', outcome: 'opened' },
      { ...at, ...target, id: 'c0', outcome: 'opened', protocol: 'tunnel' },
      { ...at, id: 'o', outcome: 'omitted', host: null, port: null, protocol: null, count: 7 },
    ],
    next_page: null,
  },
];

it('[EG51] egress is a row for each connection, its end in the place of its beginning, or JSON', async () => {
  const server = createServer((request, response) => {
    const page = request.url?.includes('page=page_2') === true ? pages[1] : pages[0];
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const egress = (...args: string[]) => call(['egress', ID, ...args, '--url', url, '--key', 'k']);
  const { code, stdout } = await egress();
  expect(code).toBe(0);
  const rows = stdout.trimEnd().split('\n');
  expect(rows[0]).toMatch(/^TIME +HOST +OUTCOME +SENT +RECEIVED +CREDENTIALS/);
  expect(rows.slice(1).map((row) => row.replaceAll(/ {2,}/g, ' | ').replace(/^\S+ \| /, ''))).toEqual([
    expect.stringMatching(/^evil.*\.example:443 \| refused, TLS opened, host not allowed/),
    expect.stringMatching(/^api\.example\.com:443 \| closed, TLS opened \| 10 B \| 2\.0 KB \| vcrd_1 ×2$/),
    expect.stringMatching(/^api\.example\.com:443 \| opened/),
    expect.stringMatching(/^7 more connections \| omitted/),
  ]);
  expect(stdout).not.toContain('\u001b');
  const refused = await egress('--refused', '--json');
  expect(
    refused.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id),
  ).toEqual(['c2']);
});
