import { expect, it } from 'vitest';
import { describeOutcome, type EgressConnection, sumHosts, toRows } from './connection-rows.ts';

function toEntry(id: string, outcome: EgressConnection['outcome'], more: Partial<EgressConnection> = {}) {
  const bytes = outcome === 'closed' ? 100 : null;
  const entry: EgressConnection = {
    id,
    outcome,
    created_at: '2026-01-01T00:00:00.000Z',
    host: 'a.example',
    port: 443,
    protocol: 'tunnel',
    reason: null,
    bytes_sent: bytes,
    bytes_received: bytes,
    duration_ms: null,
    credentials: {},
    count: null,
    ...more,
  };
  return entry;
}

it('[Z540] a connection is one row, its end in the place of its beginning, and one that is open stays', () => {
  const entries = [toEntry('3', 'opened'), toEntry('2', 'refused'), toEntry('1', 'closed'), toEntry('1', 'opened')];
  expect(toRows(entries).map(({ id, outcome }) => [id, outcome])).toEqual([
    ['3', 'opened'],
    ['2', 'refused'],
    ['1', 'closed'],
  ]);
});

it('[Z540] hosts are summed up with allowed, refused and bytes, those with refusals first', () => {
  const other = { host: 'b.example', port: 80 };
  const omitted = toEntry('9', 'omitted', { host: null, port: null, protocol: null, count: 7 });
  const rows = [toEntry('1', 'closed'), toEntry('2', 'closed'), toEntry('3', 'refused', other), omitted];
  expect(sumHosts(rows)).toEqual([
    { host: 'b.example:80', allowed: 0, refused: 1, bytesSent: 0, bytesReceived: 0 },
    { host: 'a.example:443', allowed: 2, refused: 0, bytesSent: 200, bytesReceived: 200 },
  ]);
  expect([...rows, toEntry('4', 'refused', { reason: 'host_not_allowed' })].map(describeOutcome)).toEqual([
    'allowed',
    'allowed',
    'refused',
    '7 more are not listed',
    'refused: host not allowed',
  ]);
});
