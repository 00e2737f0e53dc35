import { expect, it } from 'vitest';
import { sendRaw } from './raw.ts';

it.each([
  ['repeated until the server accepts it', 5, 200, 6],
  ['reported after five repetitions', 6, 529, 6],
])('[Q46] a request that is rejected with 529 is %s', async (_name, rejections, status, attempts) => {
  const bodies: unknown[] = [];
  const fetchIt = async (_: unknown, init?: RequestInit) => {
    bodies.push(init?.body);
    const isRejected = bodies.length <= rejections;
    return new Response('{}', isRejected ? { status: 529, headers: { 'retry-after': '0' } } : { status: 200 });
  };
  const target = { url: 'http://127.0.0.1:1', key: 'k' };
  const request = { method: 'POST', path: '/v1/agents', body: { name: 'a' } };
  expect((await sendRaw(target, fetchIt as typeof fetch, request)).status).toBe(status);
  expect(bodies).toEqual(Array.from({ length: attempts }, () => '{"name":"a"}'));
});

it('[Q46] a repetition waits as long as the server asks for, but at most 10 s', async () => {
  const waits: number[] = [];
  const asked = ['3', '10', '11', '3600'];
  const fetchIt = async () => {
    const seconds = asked[waits.length];
    return seconds === undefined
      ? new Response('{}')
      : new Response('{}', { status: 529, headers: { 'retry-after': seconds } });
  };
  const target = { url: 'http://127.0.0.1:1', key: 'k' };
  const pause = async (ms: number) => void waits.push(ms);
  expect((await sendRaw(target, fetchIt, { path: '/v1/agents' }, pause)).status).toBe(200);
  expect(waits).toEqual([3_000, 10_000, 10_000, 10_000]);
});
