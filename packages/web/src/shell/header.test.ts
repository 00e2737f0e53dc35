import { type FleetEvent, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, expect, it, vi } from 'vitest';
import { load } from '../stores/health.ts';
import { fleet } from '../stores/stores.ts';
import { EmptyInbox } from '../inbox/EmptyInbox.tsx';
import { SummaryBar } from '../fleet/SummaryBar.tsx';

afterEach(() => {
  vi.useRealTimers();
  // The store is shared by all tests of this process.
  fleet.model.sessions.clear();
  fleet.notify();
  load.value = undefined;
});

const NOW = new Date(2026, 4, 5, 12).getTime();

/** Feeds the store a coordinator and three children with requests in progress or queued. */
function feedStore(ask: (of: (id: number) => object) => readonly (readonly [string, object])[]): void {
  vi.useFakeTimers({ now: NOW });
  const of = (id: number) => ({ stream_id: id, depth: id === 0 ? 0 : 1, agent: `a${id}`, thread_id: `sthr_${id}` });
  const starts = [0, 1, 2, 3].flatMap((id): [string, object][] => [
    ['stream_start', { ...of(id), parent_stream_id: id === 0 ? null : 0, child_index: 0, task: 't', model: 'm' }],
    ['agent_start', { ...of(id), model: 'm', iteration: 1 }],
  ]);
  const first: [string, object] = ['request_received', { request_id: 'r', agent: 'a0', message: 'go' }];
  const events = [first, ...starts, ...ask(of)].map(([event, fields], index): FleetEvent => {
    const data = JSON.stringify({ session_id: 'sesn_header', seq: index + 1, ts: NOW - 300_000, ...fields });
    return parseFleetEvent({ event, id: String(index + 1), data });
  });
  const known = fleet.model.know('sesn_header');
  known.load = 'loaded';
  fleet.take({ type: 'events', events });
  fleet.notify();
}

/** The figures of the header by label. */
function figures(): Record<string, string> {
  const html = renderToStaticMarkup(createElement(SummaryBar));
  const found = html.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name, value!.replace(/<[^>]+>/g, '')]));
}

it('[Z303, Z331] the header counts requests in progress and queued, and refusals separately from other retries', () => {
  feedStore(() => []);
  // The coordinator waits for its three children.
  expect(figures()).toMatchObject({ requests: '3', '429s': '0/min' });
  fleet.model.sessions.clear();
  feedStore((of) => [['request_queued', { ...of(3), reason: 'paused', ahead: 0 }]]);
  expect(figures()['requests']).toBe('2 + 1 queued');
  fleet.model.sessions.clear();
  const retry = { message: 'm', attempt: 2, retry_at: NOW + 9_000, ts: NOW - 1_000 };
  feedStore((of) => [
    ['request_queued', { ...of(3), reason: 'concurrency', ahead: 0 }],
    ['request_admitted', of(3)],
    ['request_retrying', { ...of(1), ...retry, code: 'model_rate_limited_error' }],
    ['request_retrying', { ...of(2), ...retry, code: 'model_overloaded_error' }],
    ['request_retrying', { ...of(2), ...retry, code: 'model_rate_limited_error', ts: NOW - 60_000 }],
  ]);
  expect(figures()).toMatchObject({ requests: '1', '429s': '2/min' });
  fleet.model.sessions.clear();
  feedStore((of) => [
    ['request_retrying', { ...of(1), ...retry, code: 'model_rate_limited_error' }],
    ['request_retrying', { ...of(2), ...retry, code: 'model_request_failed_error' }],
  ]);
  expect(figures()).toMatchObject({ requests: '1', '429s': '1/min + 1 other' });
});

it('[Z330] with an endpoint the header shows its requests in progress, their limit, the queued ones, and the node of these figures', () => {
  feedStore(() => []);
  const endpoint = { active: 5, waiting: 0, max: 32, paused_ms: 0 };
  load.value = { type: 'fleet_load', node_id: null, nodes: 1, endpoint };
  expect(figures()['requests']).toBe('5/32');
  load.value = { ...load.value, endpoint: { ...endpoint, waiting: 7, max: 5 } };
  expect(figures()['requests']).toBe('5/5 + 7 queued');
  load.value = { ...load.value, node_id: 'node_12345678-9abc', nodes: 3 };
  expect(figures()['requests']).toBe('5/5 + 7 queued · node_12345678');
  expect(renderToStaticMarkup(createElement(SummaryBar))).toContain('node_12345678-9abc, one of 3 nodes');
  // Scripts and programs have no limit: the requests shown are counted.
  load.value = { ...load.value, node_id: null, endpoint: null };
  expect(figures()['requests']).toBe('3/∞');
});

it('[Z302] the header and the empty inbox show for how long the user was the bottleneck today', () => {
  feedStore((of) => [
    ['approval_required', { ...of(1), tool: 'bash', tool_use_id: 'x', input: {}, ts: NOW - 250_000 }],
    ['approval_resolved', { ...of(1), tool: 'bash', tool_use_id: 'x', input: {}, result: 'allow', ts: NOW - 120_000 }],
    ...[1, 2, 3].map((id) => ['text', { ...of(id), delta: 'on', ts: NOW - 1_000 }] as const),
  ]);
  expect(figures()['waited for you']).toBe('2 min 10 s');
  const empty = renderToStaticMarkup(createElement(EmptyInbox));
  expect(empty).toContain('You were the bottleneck for 2 min 10 s today.');
  expect(empty).toContain('4 running, longest wait today 2 min 10 s, last decision 2 min ago');
  expect(empty).toContain('href="#/agents"');
});
